/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushes profiles to a receiver over HTTP.
 *
 *   url.c     the receiver, and the protocol that follows from its path
 *   body.c    the body of a request             reply.c   the result of an answer, and when to try again
 *   token.c   the Authorization header
 *   http.c    one request, by libcurl; http_none.c in its place in builds without libcurl
 *
 * OTLP and Pyroscope's HTTP API are described in their projects' documentation. Delivery is at least once: if the answer to a
 * request is lost, the same profile is sent again. Redirects are not followed. Nothing here prints; single-threaded.
 */
#ifndef JHOT_PUSH_PUSH_H
#define JHOT_PUSH_PUSH_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* --- url.c --------------------------------------------------------------------------------------------- */

enum push_protocol {
	PUSH_OTLP,   /* .../v1development/profiles, .../v1/profiles: OTLP as protobuf */
	PUSH_INGEST, /* .../ingest: Pyroscope, one pprof profile per request */
	PUSH_SERIES, /* .../push.v1.PusherService/Push: Pyroscope, JSON */
};

struct push_target {
	enum push_protocol protocol;
	char *url;
	char *shown; /* for messages: without the query, which may contain secrets */
	bool plain;  /* unencrypted, and not to this host */
};

/* Accepts http and https. A URL without a path means OTLP's default path. ERR_USAGE if it is refused. */
int push_target_parse(struct push_target *t, const char *url, struct err *err);
void push_target_done(struct push_target *t);

/* --- body.c -------------------------------------------------------------------------------------------- */

/* A pprof profile of one event, and what identifies it. */
struct push_profile {
	const char *event; /* "cpu" */
	const char *program, *host;
	const char *const *labels; /* "name=value"; service.name replaces the program's name */
	int label_count;
	uint64_t start_ns, duration_ns;
	struct buf pprof; /* owned by the caller */
};

/* Appends the compressed bytes. */
void push_body_gzip(struct buf *out, const struct buf *plain);
/* The JSON of PUSH_SERIES: a series per profile. */
void push_body_series(struct buf *out, const struct push_profile *list, int count);
/* The query of PUSH_INGEST: "name=...&from=...", percent-encoded. */
void push_query(struct buf *out, const struct push_profile *p);

/* --- reply.c ------------------------------------------------------------------------------------------- */

enum push_outcome {
	PUSH_DONE,
	PUSH_LATER,   /* may succeed later without any change: receiver away or overloaded */
	PUSH_DENIED,  /* succeeds for no profile until the URL or the token is changed */
	PUSH_REFUSED, /* the receiver does not want this profile */
};

struct push_reply {
	long status;        /* HTTP; 0: no answer */
	char type[80];      /* Content-Type */
	char location[256]; /* of a redirect */
	struct buf body;    /* the first PUSH_BODY_MAX bytes */
	uint64_t received;  /* bytes of the whole body; above PUSH_RECEIVED_MAX the request ends */
	uint64_t retry_after_s;
	uint64_t rejected; /* set by push_judge: profiles that the receiver did not accept */
};
#define PUSH_BODY_MAX     4096u
#define PUSH_RECEIVED_MAX (1u << 20)
void push_reply_clear(struct push_reply *r);

/* The meaning of an answer. An error unless PUSH_DONE, and also with PUSH_DONE if rejected is not 0. */
enum push_outcome push_judge(const struct push_target *t, struct push_reply *r, struct err *err);

/* --- back-off ------------------------------------------------------------------------------------------ */

/*
 * The delay before the next attempt, after this number of consecutive failures (at least 1): exponential back-off from 1 s to
 * 5 minutes, with jitter (a factor of 0.5 to 1, chosen by `random`). At least retry_after_s, which is capped at one hour.
 */
uint64_t push_wait_ns(unsigned failures, uint64_t retry_after_s, uint64_t random);

/* --- token.c ------------------------------------------------------------------------------------------- */

/*
 * Reads the value of the Authorization header from a file: "SCHEME CREDENTIALS", or only a token, which becomes "Bearer TOKEN".
 * Errors do not quote the file.
 */
int push_token_read(struct buf *out, const char *path, struct err *err);
/* ERR_USAGE unless the text is "Name: value" and the name is not one that jhot sets itself. */
int push_header_check(const char *header, struct err *err);

/* --- http.c -------------------------------------------------------------------------------------------- */

#define PUSH_CONNECT_S 10
#define PUSH_TOTAL_S   60
#define PUSH_HEADERS   16

struct push_options {
	const char *headers[PUSH_HEADERS]; /* checked by push_header_check */
	int header_count;
	const char *token_file; /* read for each request; NULL: none */
	const char *ca_file;    /* certificates to trust; NULL: the system's */
	unsigned timeout_s;     /* of a request; 0: PUSH_TOTAL_S */
	/* Called about once per second during a request; false cancels it, which is PUSH_LATER. May be NULL. */
	bool (*tick)(void *ctx);
	void *ctx;
};

struct push_request {
	const char *type;  /* Content-Type */
	const char *query; /* appended to that of the URL; NULL: none */
	bool gzip;         /* body is compressed on top of its type */
	const struct buf *body;
};

struct push_http;
/* Loads libcurl. NULL: not possible, see err. */
struct push_http *push_http_open(struct err *err);
void push_http_close(struct push_http *h); /* NULL is allowed */
/* Blocks for at most timeout_s. Replaces *reply; the caller clears it. Errors as of push_judge. */
enum push_outcome push_http_send(struct push_http *h, const struct push_target *t,
	const struct push_options *o, const struct push_request *request, struct push_reply *reply,
	struct err *err);

#endif
