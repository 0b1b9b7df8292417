# SPDX-License-Identifier: Apache-2.0
# Tests of pushing.

check_PROGRAMS += %D%/test_push
check_SCRIPTS += %D%/test_again.sh %D%/test_recorder.sh %D%/test_verb.sh
EXTRA_DIST += %D%/lib.sh %D%/received.py %D%/receiver.py

%C%_test_push_LDADD = libpush_none.a libimport.a libbase.a $(Z_LIBS) -lm
