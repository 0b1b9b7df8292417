# SPDX-License-Identifier: Apache-2.0
# Lint: the source tree against its own rules.

check_SCRIPTS += %D%/test_agent.sh %D%/test_child.sh %D%/test_dist.py %D%/test_docs.py \
	%D%/test_files.py %D%/test_format.sh %D%/test_hardened.sh %D%/test_layers.py %D%/test_lint.sh
EXTRA_DIST += %D%/lint.py %D%/long
