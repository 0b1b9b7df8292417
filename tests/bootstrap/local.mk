# SPDX-License-Identifier: Apache-2.0
# A test of bootstrap.

check_SCRIPTS += %D%/test_bootstrap.sh
