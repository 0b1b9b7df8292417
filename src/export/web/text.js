// SPDX-License-Identifier: Apache-2.0
// Flame graph: names that fit, numbers with units, colours.

function javaParts(name) {
	let classAt = 0, methodAt = 0;
	for (let i = 0; i < name.length; i++) {
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
	const bare = name[0] === '[' && name.includes('] ') ? name.slice(name.indexOf('] ') + 2) : name;
	let end = bare.indexOf('(');
	while (end === 0 || (end > 0 && (bare.slice(end - 8, end) === 'operator' ||
			bare.startsWith('(anonymous', end))))
		end = bare.indexOf('(', end + 1);
	const call = end < 0 ? bare : bare.slice(0, end);
	let at = call.length, angle = 0;
	for (; at > 0; at--) {
		angle += call[at - 1] === '>' ? 1 : call[at - 1] === '<' ? -1 : 0;
		if (!angle && call[at - 1] === ':' && call[at - 2] === ':')
			break;
	}
	return [name, bare, call, call.slice(at)];
}

function ladder(name, type) {
	if (type === FRAME_ALL || type === FRAME_THREAD)
		return [name];
	return JAVA.includes(type) ? shortenJava(name, type === 'I') : shortenNative(name);
}

function packageOf(name, type) {
	if (JAVA.includes(type))
		return name.slice(0, javaParts(name)[0]);
	return name[0] === '[' ? name.slice(0, name.indexOf(']')) : type;
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

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}

function shade(hue, saturation, lightness, dark) {
	if (dark)
		return `hsl(${hue} ${saturation * 0.62}% ${lightness * 0.62 - 14}%)`;
	return `hsl(${hue} ${saturation}% ${lightness}%)`;
}

const COLORS = {
	type(view, t, i, type) {
		const h = hash(view.graph.names[t.name[i]]), c = view.graph.types[type];
		const hue = (360 + c.hue + (c.saturation ? (h >> 8 & 3) * 4 - 6 : 0)) % 360;
		return shade(hue, c.saturation, c.lightness + (h >> 16 & 3) * 2 - 3, view.dark);
	},
	package(view, t, i, type) {
		const h = hash(packageOf(view.graph.names[t.name[i]], type));
		const plain = type === FRAME_ALL || type === FRAME_THREAD;
		return shade(h % 30 * 12, plain ? 8 : 46, 76 + (h >> 12 & 3) * 2, view.dark);
	},
	self(view, t, i) {
		const heat = Math.min(1, Math.sqrt(Math.max(0, t.self[i]) / (t.total[view.zoom] || 1)) * 1.6);
		return shade(48 - 42 * heat, 8 + 66 * heat, 87 - 17 * heat, view.dark);
	},
};
