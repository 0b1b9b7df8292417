/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from outside, as the model keeps them. */
#include "profile/model/model.h"

#include "base/clean.h"

#include <string.h>

#define CUT "\xe2\x80\xa6" /* an ellipsis */

const char *model_text(struct model_texts *t, const char *text, bool in_parts)
{
	size_t len = strnlen(text, PROFILE_TEXT_MAX + 1);
	bool whole = len <= PROFILE_TEXT_MAX;
	const char *tab;

	if (whole && clean_plain(text, len) == len)
		return text;
	for (len = whole ? len : PROFILE_TEXT_MAX - strlen(CUT);
		!whole && len && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--;
	buf_clear(&t->clean);
	tab = in_parts ? memchr(text, '\t', len) : NULL;
	if (tab) {
		clean_add(&t->clean, text, (size_t)(tab - text));
		buf_addc(&t->clean, '\t');
		len -= (size_t)(tab + 1 - text);
		text = tab + 1;
	}
	clean_add(&t->clean, text, len);
	if (!whole) {
		buf_adds(&t->clean, CUT);
		t->cut++;
	}
	return buf_str(&t->clean);
}
