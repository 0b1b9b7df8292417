# SPDX-License-Identifier: Apache-2.0
# Tests of what is found to be wrong with programs.

check_SCRIPTS += %D%/test_waits.sh
