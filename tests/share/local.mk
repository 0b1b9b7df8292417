# SPDX-License-Identifier: Apache-2.0
# Tests of sharing a profile with other processes.

check_PROGRAMS += %D%/test_share

%C%_test_share_LDADD = libshare.a librecording.a libattach.a libprofile.a libbase.a $(Z_LIBS) -lm
