// SPDX-License-Identifier: Apache-2.0
// Flame graph: colors, the same as in the static picture (flame_color.c).

function packageOf(name, type) {
	if (JAVA.includes(type))
		return name.slice(0, javaParts(name)[CLASSES.includes(type) ? 1 : 0]);
	return name[0] === '[' && name.indexOf(']') > 0 ? name.slice(0, name.indexOf(']')) : type;
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
		const h = hash(view.graph.names[t.name[i]]), [hue, saturation, lightness] = view.graph.types[type].type;
		return shade((360 + hue + (saturation ? (h >> 8 & 3) * 4 - 6 : 0)) % 360, saturation,
			lightness + (h >> 16 & 3) * 2 - 3, view.dark);
	},
	package(view, t, i, type) {
		const h = hash(packageOf(view.graph.names[t.name[i]], type));
		const plain = type === FRAME_ALL || type === FRAME_THREAD || type === FRAME_NARROW;
		return shade(h % 30 * 12, plain ? 8 : 46, 76 + (h >> 12 & 3) * 2, view.dark);
	},
	self(view, t, i) {
		const heat = Math.min(1, Math.sqrt(Math.max(0, t.self[i]) / (t.total[view.zoom] || 1)) * 1.6);
		return shade(48 - 42 * heat, 8 + 66 * heat, 87 - 17 * heat, view.dark);
	},
	safe(view, t, i, type) {
		const h = hash(view.graph.names[t.name[i]]), [hue, saturation, lightness] = view.graph.types[type].safe;
		return shade(hue, saturation, lightness + (h >> 16 & 3) - 1.5, view.dark);
	},
};

// Color of a heat map cell; value from 0 to 1.
function heatColor(share, theme) {
	const ramp = theme.heat, x = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
	const i = Math.min(ramp.length - 2, Math.floor(x));
	return 'rgb(' + ramp[i].map((c, k) => Math.round(c + (ramp[i + 1][k] - c) * (x - i))).join(' ') + ')';
}
