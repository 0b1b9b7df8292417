/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Method names in the columns there are. The method itself is never shortened before all else is gone.
 *
 *   com.acme.shop.pricing.PriceEngine.compute
 *   c.a.shop.pricing.PriceEngine.compute        packages to one letter, from the left
 *   PriceEngine.compute                         then without packages
 *   …Engine.compute                             then the class from its left
 *   compute
 *
 * Native names lose their parameters, then their module, then leading namespaces.
 */
#ifndef JHOT_TUI_SCREEN_NAME_H
#define JHOT_TUI_SCREEN_NAME_H

#include "profile/profile.h"

#include <stddef.h>

enum name_style { NAME_FULL, NAME_CLASS, NAME_METHOD, NAME_STYLES }; /* the most that is shown */

/*
 * name_fit: the longest form that fits into width columns. Returns the columns of its leading part that
 * says where the method is (package or module), so that a view can draw it weaker.
 */
int name_fit(char *out, size_t size, const struct profile_method *m, int width,
	enum name_style style, const char *ellipsis);
/* "(Object, int)" of "(Ljava/lang/Object;I)V"; "" for none or one that cannot be read. */
void name_parameters(char *out, size_t size, const char *signature);
/* Cut from the right, with an ellipsis where something is missing. */
void name_cut(char *out, size_t size, const char *text, int width, const char *ellipsis);
/* Cut from the middle: of threads' names the end tells them apart. */
void name_middle(char *out, size_t size, const char *text, int width, const char *ellipsis);

#endif
