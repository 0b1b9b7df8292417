/* SPDX-License-Identifier: Apache-2.0 */
/* gauges_host: the throttling counts of a cgroup are monotonic, even if the cgroup changes or disappears. */
#include "session/gauges/gauges.h"

#include "tests/attach/fake.h"
#include "tests/tap.h"

static struct gauges_host host;

static struct vitals_host read_host(const char *group, const char *stat)
{
	struct vitals_host out = vitals_host_unknown;
	char file[64], line[64];

	snprintf(file, sizeof(file), "cg/%s/cpu.stat", group);
	fake_file(file, stat);
	snprintf(line, sizeof(line), "0::/%s\n", group);
	fake_file("10/cgroup", line);
	gauges_host_read(&host, 10, &out);
	return out;
}

int main(void)
{
	char text[PATH_MAX + 100];
	struct vitals_host v;

	fake_begin();
	snprintf(text, sizeof(text), "31 22 0:30 / %s/cg rw - cgroup2 cgroup2 rw\n", fake_root);
	fake_file("self/mountinfo", text);
	fake_file("cg/a/cpu.max", "50000 100000\n");
	fake_file("cg/b/cpu.max", "70000 100000\n");
	gauges_host_init(&host);
	v = read_host("a", "nr_periods 1000\nnr_throttled 900\nthrottled_usec 77\n");
	ok(v.cpu_limit == 500 && v.cpu_period_us == 100000 && v.cpu_periods == 0 &&
			v.cpu_throttled == 0,
		"throttling before the first read does not count");
	v = read_host("a", "nr_periods 1010\nnr_throttled 904\nthrottled_usec 97\n");
	ok(v.cpu_periods == 10 && v.cpu_throttled == 4 && v.throttled_us == 20,
		"throttling since the first read counts");
	v = read_host("b", "nr_periods 9010\nnr_throttled 9904\nthrottled_usec 9997\n");
	ok(v.cpu_limit == 700 && v.cpu_throttled == 4,
		"when the process changes its cgroup, the new one's earlier counts do not count");
	v = read_host("b", "nr_periods 9011\nnr_throttled 9905\nthrottled_usec 9998\n");
	ok(v.cpu_periods == 11 && v.cpu_throttled == 5, "later counts of the new cgroup are added");
	v = read_host("b", "nr_periods 1\nnr_throttled 1\nthrottled_usec 1\n");
	ok(v.cpu_periods == 11 && v.cpu_throttled == 5,
		"counts of a recreated cgroup never decrease the sum");
	fake_file("cg/b/cpu.max", "max 100000\n");
	v = read_host("b", "nr_periods 1\nnr_throttled 1\nthrottled_usec 1\n");
	ok(v.cpu_limit == 0 && v.cpu_throttled == -1,
		"without a limit the throttling counts are unknown");
	fake_file("10/cgroup", "");
	v = vitals_host_unknown;
	gauges_host_read(&host, 10, &v);
	ok(v.cpu_limit == -1 && v.cpu_throttled == -1, "without a cgroup the limit is unknown");
	fake_end();
	return tap_done();
}
