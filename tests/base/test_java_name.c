/* SPDX-License-Identifier: Apache-2.0 */
/* Generated class names that are equivalent across runs, as written by JDKs 8 to 25, CGLIB, Mockito and compilers. */
#include "base/java_name.h"

#include "tests/tap.h"

static const struct {
	const char *name, *folded;
} rows[] = {
	/* lambdas: JDK 8, 17, 21; as the JVM, collapsed stacks and jhot have them */
	{"com.acme.Shop$$Lambda$14/1637070917", "com.acme.Shop$$Lambda*"},
	{"com.acme.Shop$$Lambda$14/0x00007f2c1c0031f8", "com.acme.Shop$$Lambda*"},
	{"com.acme.Shop$$Lambda/0x00007f2c1c0031f8", "com.acme.Shop$$Lambda*"},
	{"com/acme/Shop$$Lambda+0x00007f2c1c0031f8", "com/acme/Shop$$Lambda*"},
	{"com/acme/Shop$$Lambda.0x00007f2c1c0031f8", "com/acme/Shop$$Lambda*"},
	{"com.acme.Shop$$Lambda$14.0x00007f2c1c0031f8", "com.acme.Shop$$Lambda*"},
	{"com.acme.Shop$$Lambda$14", "com.acme.Shop$$Lambda*"},
	{"com.acme.Shop$$Lambda", "com.acme.Shop$$Lambda*"},
	{"com.acme.Shop$$Lambda/0x00007f2c1c0031f8[]", "com.acme.Shop$$Lambda*[]"},
	{"lambda$main$3", "lambda$main$*"},
	{"lambda$main$3$x", "lambda$main$*$x"},
	{"access$100", "access$*"},
	{"com.acme.Shop$1", "com.acme.Shop$*"},
	{"com.acme.Shop$12$3Local", "com.acme.Shop$*$*Local"},
	/* hidden classes */
	{"com.acme.Hidden/0x000000080012", "com.acme.Hidden*"},
	{"java.lang.invoke.LambdaForm$MH/0x00007f2c1c003400", "java.lang.invoke.LambdaForm$MH*"},
	{"java.lang.invoke.LambdaForm$DMH/1096979270", "java.lang.invoke.LambdaForm$DMH*"},
	{"java.lang.invoke.LambdaForm$MH012", "java.lang.invoke.LambdaForm$MH*"},
	{"java/lang/invoke/LambdaForm$BMH.0x00007f2c1c003400", "java/lang/invoke/LambdaForm$BMH*"},
	/* reflection and proxies */
	{"jdk.internal.reflect.GeneratedMethodAccessor12",
		"jdk.internal.reflect.GeneratedMethodAccessor*"},
	{"sun.reflect.GeneratedConstructorAccessor7", "sun.reflect.GeneratedConstructorAccessor*"},
	{"sun.reflect.GeneratedSerializationConstructorAccessor7",
		"sun.reflect.GeneratedSerializationConstructorAccessor*"},
	{"com.sun.proxy.$Proxy34", "com.sun.proxy.$Proxy*"},
	{"jdk.proxy2.$Proxy34", "jdk.proxy*.$Proxy*"},
	/* libraries that make classes */
	{"com.acme.Bean$$FastClassBySpringCGLIB$$6f1c1e3a",
		"com.acme.Bean$$FastClassBySpringCGLIB$$*"},
	{"com.acme.Bean$$EnhancerBySpringCGLIB$$abcdefab",
		"com.acme.Bean$$EnhancerBySpringCGLIB$$*"},
	{"com.acme.Bean$$EnhancerByCGLIB$$1a2b", "com.acme.Bean$$EnhancerByCGLIB$$*"},
	{"com.acme.Bean$$SpringCGLIB$$0", "com.acme.Bean$$SpringCGLIB$$*"},
	{"com.acme.Bean$MockitoMock$1342573298", "com.acme.Bean$MockitoMock$*"},
	{"com.acme.Bean$HibernateProxy$Xk2", "com.acme.Bean$HibernateProxy$Xk2"},
	{"com.acme.Bean$HibernateProxy$1f2e3d4c", "com.acme.Bean$HibernateProxy$*"},
	{"com.acme.Bean_$$_jvst1f2_3", "com.acme.Bean_$$_jvst*_3"},
	{"Script1$_run_closure2", "Script1$_run_closure*"},
	/* what is a name and stays one */
	{"com.acme.Base64", "com.acme.Base64"},
	{"com.acme.v2.Utf8", "com.acme.v2.Utf8"},
	{"java.util.HashMap$Node", "java.util.HashMap$Node"},
	{"com.acme.Bean$$EnhancerBySpringCGLIB$$face",
		"com.acme.Bean$$EnhancerBySpringCGLIB$$face"},
	{"sha256", "sha256"},
	{"a/b", "a/b"},
	{"byte[]", "byte[]"},
	{"", ""},
	{"$", "$"},
	{"$1", "$*"},
	{"$$Lambda", "$$Lambda*"},
	{"/0x", "/0x"},
};

static const struct {
	const char *name, *folded;
} native_rows[] = {
	{"copy_words.constprop.0", "copy_words.constprop.*"},
	{"copy_words.part.3.isra.12", "copy_words.part.*.isra.*"},
	{"copy_words.cold", "copy_words.cold"},
	{"0x92620", "0x92620"},
	{"operator new(unsigned long)", "operator new(unsigned long)"},
	{"f$1", "f$1"},
	{".part.", ".part."},
	{"", ""},
};

static const char *fold(void (*how)(struct buf *out, const char *name), const char *name)
{
	static struct buf out;

	buf_clear(&out);
	how(&out, name);
	return buf_str(&out);
}

int main(void)
{
	char twice[256];
	size_t class_at, method_at;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_str(fold(java_name_fold, rows[i].name), rows[i].folded, rows[i].name);
		snprintf(twice, sizeof(twice), "%s", fold(java_name_fold, rows[i].name));
		ok(!strcmp(fold(java_name_fold, twice), rows[i].folded),
			"folding a folded name again changes nothing");
	}
	for (size_t i = 0; i < sizeof(native_rows) / sizeof(native_rows[0]); i++)
		is_str(fold(native_name_fold, native_rows[i].name), native_rows[i].folded,
			native_rows[i].name);
	is_str(java_name_simple("com.acme.Shop$$Lambda/0x1f.x"), "Shop$$Lambda/0x1f.x",
		"java_name_simple removes the packages");
	is_str(java_name_simple("Shop"), "Shop", "java_name_simple keeps a name without packages");
	ok(java_name_is_lambda("a.B$$Lambda/0x1") && !java_name_is_lambda("a.B"),
		"lambda classes are recognized");
	java_name_parts("com.acme.Shop$$Lambda.0x1f.run(java.lang.String)", &class_at, &method_at);
	ok(class_at == 9 && method_at == 27, "java_name_parts finds class and method (%zu, %zu)",
		class_at, method_at);
	ok(java_name_matches("a.b.C", "a.*") && java_name_matches("a.b.C", "*C") &&
			java_name_matches("a.b.C", "a*C") && java_name_matches("C", "C") &&
			java_name_matches("", "*"),
		"patterns with a star match");
	ok(!java_name_matches("a.b.C", "b*") && !java_name_matches("a.b.C", "*B") &&
			!java_name_matches("ab", "ab*b") && !java_name_matches("CC", "C"),
		"other patterns do not match");
	return tap_done();
}
