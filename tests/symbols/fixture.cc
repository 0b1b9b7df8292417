// SPDX-License-Identifier: Apache-2.0
// A library with the kinds of functions that symbol tests look for: C and C++, local, hidden, aliased.
#include <cstdio>

extern "C" {

__attribute__((noinline)) int fixture_global(int x)
{
	return x * 3 + 1;
}

static __attribute__((noinline, used)) int fixture_local(int x)
{
	return puts("local") + x;
}

int __fixture_alias(int x) __attribute__((alias("fixture_global")));

__attribute__((noinline, visibility("hidden"))) int fixture_hidden(int x)
{
	return fixture_local(x) * 5;
}

int fixture_calls(int x)
{
	return fixture_hidden(x) + fixture_global(x);
}
}

namespace shop
{
template <typename T> struct Cart {
	__attribute__((noinline)) T add(T a, int b) const;
};

template <typename T> T Cart<T>::add(T a, int b) const
{
	return a + static_cast<T>(b);
}

template struct Cart<long>;

namespace
{
__attribute__((noinline, used)) int hidden_helper(const char *s)
{
	return puts(s);
}
} // namespace
} // namespace shop
