/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Method names fitted to a width. Everything else is shortened before the method name is.
 *
 *   com.acme.shop.pricing.PriceEngine.compute
 *   c.a.shop.pricing.PriceEngine.compute        packages abbreviated, from the left
 *   PriceEngine.compute                         no packages
 *   …Engine.compute                             class cut on its left
 *   compute
 *
 * Native names lose their parameters, then their module, then leading namespaces. Pure functions.
 */
#ifndef JHOT_TUI_SCREEN_NAME_H
#define JHOT_TUI_SCREEN_NAME_H

#include "profile/profile.h"

#include <stddef.h>

enum name_style { NAME_FULL, NAME_CLASS, NAME_METHOD, NAME_STYLES }; /* the longest form to show */

/*
 * name_fit: writes the longest form that fits into width columns. Returns the width of its leading package or module,
 * which views draw dimmed.
 */
int name_fit(char *out, size_t size, const struct profile_method *m, int width,
	enum name_style style, const char *ellipsis);
/* "(Object, int)" for "(Ljava/lang/Object;I)V"; "" without a signature, or when it is malformed or too long. */
void name_parameters(char *out, size_t size, const char *signature);
/* Truncates text on the right, with an ellipsis. */
void name_cut(char *out, size_t size, const char *text, int width, const char *ellipsis);
/*
 * Fits the name of a program: of a main class the packages are abbreviated first, a path and a jar lose their beginning,
 * since the end identifies them.
 */
void name_program(char *out, size_t size, const char *name, int width, const char *ellipsis);
/* Truncates text in the middle: thread names differ at their end. */
void name_middle(char *out, size_t size, const char *text, int width, const char *ellipsis);

#endif
