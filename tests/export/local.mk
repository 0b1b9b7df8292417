# SPDX-License-Identifier: Apache-2.0
# Tests of export, and a tool that writes invented profiles for the scripts that check the files.

check_PROGRAMS += %D%/test_export
noinst_PROGRAMS += %D%/export_tool
check_SCRIPTS += %D%/test_browser.py %D%/test_diff.py %D%/test_formats.py %D%/test_html.py %D%/test_whole.sh %D%/test_xml.sh
EXTRA_DIST += %D%/browser.py %D%/formats.py

EXPORT_TEST_LIBS = libexport.a $(PROFILE_TEST_LIBS) $(Z_LIBS)

%C%_export_tool_LDADD = $(EXPORT_TEST_LIBS)
%C%_test_export_LDADD = $(EXPORT_TEST_LIBS)
