# SPDX-License-Identifier: Apache-2.0
# Tests of the program.

check_PROGRAMS += %D%/test_args %D%/test_events
check_SCRIPTS += %D%/test_agentpath.sh %D%/test_all.sh %D%/test_background.sh %D%/test_batch.sh %D%/test_calls.sh %D%/test_cli.sh %D%/test_diff.sh %D%/test_install.sh %D%/test_launch.sh \
	%D%/test_outputs.sh %D%/test_recorder.sh %D%/test_recorder_joins.sh %D%/test_remote.sh %D%/test_slow.sh %D%/test_spike.sh %D%/test_target.sh %D%/test_why.sh

EXTRA_DIST += %D%/calls.py %D%/recorder.sh %D%/schema.py %D%/slow.py

%C%_test_args_LDADD = libcli.a libbase.a -lm
%C%_test_events_LDADD = libcli.a libsession.a libattach.a libsymbols.a libprofile.a libwire.a libbase.a \
	-lpthread -lm $(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS)
