/* SPDX-License-Identifier: Apache-2.0 */
/* The Authorization header from a file, and the check of other headers. */
#include "push/push.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_MAX 8192u

/* Reads the file. 0, or -1 with an error. */
static int token_bytes(struct buf *text, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	struct stat st;

	if (fd < 0)
		return err_set_errno(err, ERR_INPUT, "Cannot read the token file %s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		rc = err_set(err, ERR_INPUT, "The token file %s is not a regular file.", path);
	else if ((rc = buf_read_all(text, fd, TOKEN_MAX)) == -EFBIG)
		err_set(err, ERR_INPUT, "The token file %s has more than %u bytes.", path,
			TOKEN_MAX);
	else if (rc) {
		errno = -rc;
		err_set_errno(err, ERR_INPUT, "Cannot read the token file %s", path);
	}
	close(fd);
	return rc ? -1 : 0;
}

int push_token_read(struct buf *out, const char *path, struct err *err)
{
	struct buf text = {0};
	int rc = token_bytes(&text, path, err);

	while (text.len && strchr(" \t\r\n", text.data[text.len - 1]))
		text.data[--text.len] = '\0';
	if (!rc && !text.len)
		rc = err_set(err, ERR_INPUT, "The token file %s is empty.", path);
	for (size_t i = 0; i < text.len && !rc; i++)
		if (text.data[i] < ' ' || text.data[i] > '~')
			rc = err_set(err, ERR_INPUT,
				"The token file %s must contain one line of printable ASCII.",
				path);
	if (!rc)
		buf_printf(out, "%s%s", strchr(text.data, ' ') ? "" : "Bearer ", text.data);
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_done(&text);
	return rc;
}

int push_header_check(const char *header, struct err *err)
{
	static const char *const own[] = {"Content-Type", "Content-Encoding", "Content-Length",
		"Transfer-Encoding", "Expect", "Host", "Connection"};
	size_t name = strspn(header, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	const char *value = header + name + 1;

	if (!name || header[name] != ':' || !value[strspn(value, " ")]) {
		err_set(err, ERR_USAGE, "--header takes \"Name: value\".");
		err_hint(err, "--header 'X-Scope-OrgID: team-a'");
		return -1;
	}
	for (const char *c = value; *c; c++)
		if ((*c < ' ' && *c != '\t') || *c > '~')
			return err_set(err, ERR_USAGE,
				"The value of --header %.*s must be printable ASCII.", (int)name,
				header);
	if (name == strlen("Authorization") && !strncasecmp(header, "Authorization", name)) {
		err_set(err, ERR_USAGE,
			"Other users can see the command line, so a token must be in a file.");
		err_hint(err, "--token-file FILE     a token, or the value of Authorization");
		return -1;
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (name == strlen(own[i]) && !strncasecmp(header, own[i], name))
			return err_set(err, ERR_USAGE, "jhot sets the header %s itself.", own[i]);
	return 0;
}
