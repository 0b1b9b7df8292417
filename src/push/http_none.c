/* SPDX-License-Identifier: Apache-2.0 */
/* In place of http.c in builds without libcurl: pushing is an error that says so. */
#include "push/push.h"

struct push_http *push_http_open(struct err *err)
{
	err_set(err, ERR_FAILED, "This jhot was built without libcurl and cannot push.");
	err_hint(err, "install jhot from a package, or build it with libcurl4-openssl-dev");
	err_hint(err, "jhot convert -o FILE.otlp ..., then send FILE.otlp with another program");
	return NULL;
}

void push_http_close(struct push_http *h)
{
	(void)h;
}

/* Never called, because there is no struct push_http. */
enum push_outcome push_http_send(struct push_http *h, const struct push_target *t,
	const struct push_options *o, const struct push_request *request, struct push_reply *reply,
	struct err *err)
{
	(void)h;
	(void)t;
	(void)o;
	(void)request;
	(void)reply;
	push_http_open(err);
	return PUSH_DENIED;
}
