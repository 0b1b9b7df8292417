// SPDX-License-Identifier: Apache-2.0
// Flame graph: names that fit, numbers with units, times.

// Same as java_name_parts in base/java_name.c.
function javaParts(name) {
	let classAt = 0, methodAt = 0;
	for (let i = 0; i < name.length && name[i] !== '('; i++) {
		if (name[i] === '.' && !(name[i + 1] >= '0' && name[i + 1] <= '9')) {
			classAt = methodAt;
			methodAt = i + 1;
		}
	}
	return [classAt, methodAt];
}

function shortenJava(name, isClass) {
	let [classAt, methodAt] = javaParts(name);
	if (isClass)
		classAt = methodAt;
	const packages = name.slice(0, classAt).split('.').filter(Boolean);
	return [name, packages.map(p => p[0] + '.').join('') + name.slice(classAt), name.slice(classAt),
		name.slice(methodAt)];
}

function shortenNative(name) {
	const end = name[0] === '[' ? name.indexOf('] ') : -1, file = name.slice(0, end + 1);
	if (end > 0 && name.startsWith('0x', end + 2)) // an address is useless without its library
		return [name, file, file, file];
	const bare = end > 0 ? name.slice(end + 2) : name;
	let args = bare.indexOf('(');
	while (args === 0 || (args > 0 && (bare[args - 1] === '.' || bare.slice(args - 8, args) === 'operator' ||
			bare.startsWith('(anonymous', args))))
		args = bare.indexOf('(', args + 1);
	const call = args < 0 ? bare : bare.slice(0, args);
	let at = call.length, angle = 0;
	for (; at > 0; at--) {
		angle += call[at - 1] === '>' ? 1 : call[at - 1] === '<' ? -1 : 0;
		if (!angle && call[at - 1] === ':' && call[at - 2] === ':')
			break;
	}
	return [name, bare, call, call.slice(at)];
}

function ladder(name, type) {
	if (type === FRAME_ALL || type === FRAME_THREAD || type === FRAME_NARROW)
		return [name];
	return JAVA.includes(type) ? shortenJava(name, CLASSES.includes(type)) : shortenNative(name);
}

const UNITS = {
	ns: [[3600e9, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'us']],
	bytes: [[1073741824, 'GiB'], [1048576, 'MiB'], [1024, 'KiB']],
};

function thousands(n) {
	return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

function valueText(n, unit) {
	for (const [from, name] of UNITS[unit] || [])
		if (n >= from)
			return (n / from).toFixed(2) + ' ' + name;
	return thousands(n) + ' ' + unit;
}

function percent(part, whole) {
	const p = whole ? 100 * part / whole : 0;
	if (!p)
		return '0 %';
	return (p >= 99.95 ? '100' : p.toFixed(p < 0.095 ? 2 : 1)) + ' %';
}

// Seconds of a recording: 4:07, 1:02:03.
function clock(seconds) {
	const s = Math.round(seconds), two = n => String(n).padStart(2, '0');
	return s < 3600 ? Math.floor(s / 60) + ':' + two(s % 60) :
		Math.floor(s / 3600) + ':' + two(Math.floor(s / 60) % 60) + ':' + two(s % 60);
}

function lengthText(seconds) {
	return seconds < 120 ? seconds + ' s' : seconds < 7200 ? +(seconds / 60).toFixed(1) + ' min' :
		+(seconds / 3600).toFixed(1) + ' h';
}

function plain(text) {
	return text.replace(/[.*+?^${}()|[\]\\\/]/g, '\\$&');
}
