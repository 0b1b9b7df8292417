# SPDX-License-Identifier: Apache-2.0
# A program to look at with jhot.

demo_sources = %D%/org/example/shop/Catalog.java %D%/org/example/shop/CartService.java \
	%D%/org/example/shop/Customer.java %D%/org/example/shop/Gateway.java \
	%D%/org/example/shop/Json.java %D%/org/example/shop/Main.java %D%/org/example/shop/Metrics.java \
	%D%/org/example/shop/OrderArchive.java %D%/org/example/shop/PriceEngine.java \
	%D%/org/example/shop/Product.java
EXTRA_DIST += $(demo_sources)
.PHONY: demo

demo: %D%/classes.stamp

%D%/classes.stamp: $(demo_sources)
	$(AM_V_GEN)$(MKDIR_P) %D%/classes && "$(JDK)/bin/javac" --release 11 -d %D%/classes $^ && touch $@

CLEANFILES += %D%/classes.stamp
