// SPDX-License-Identifier: Apache-2.0
// Flame graph: parts of seconds in the heat map. Grammar: svg_slices.c.
//
// A column is a second; its cells are the parts of the second from top to bottom. Stacks are known per second only, so selections
// consist of whole seconds, and parts are not shown with a zoom or a search. If not all seconds fit, those around the
// selection are drawn in a strip below.

const PULSE_LEAST = 1.5, PULSE_WIDE = 6, PULSE_HEIGHT = 80, SHADES = 48;
const pulse = {from: 0, count: 0, cell: 0, top: 0, of: null, shades: [], shadesOf: null};

// Adds the rates of all parts to graph.slices. Seconds without data are uniform.
function readPulse(head, text, graph) {
	const s = graph.slices;
	if (!s || !head.startsWith('pulse '))
		return;
	const [, count, parts] = head.split(' ').map(Number), number = sliceReader(text);
	const rates = new Float32Array((s.end - s.begin) * parts), unit = graph.byValue && graph.each ? graph.each : 1;
	for (let i = 0; i < s.count; i++) {
		let all = 0;
		for (let k = s.first[i]; k < s.first[i + 1]; k++)
			all += s.total[k];
		rates.fill(all / s.span[i], (s.from[i] - s.begin) * parts, (s.from[i] + s.span[i] - s.begin) * parts);
	}
	for (let i = 0, second = 0; i < count; i++, second++) {
		second += number.next();
		const all = number.next() * unit, levels = number.digits(parts), sum = levels.reduce((a, b) => a + b, 0);
		for (let k = 0; k < parts; k++)
			rates[(second - s.begin) * parts + k] = all * levels[k] * parts / sum;
	}
	s.parts = parts;
	s.rates = rates;
}

// The value of the darkest shade: four times a high percentile (of at most 200,000 values), or the maximum.
function pulseTop(s) {
	if (pulse.of !== s) {
		const step = Math.ceil(s.rates.length / 200000), some = s.rates.filter((_, i) => i % step === 0).sort();
		pulse.of = s;
		const most = s.rates.reduce((a, b) => Math.max(a, b), 0), few = some[Math.floor((some.length - 1) * 0.998)];
		pulse.top = Math.max(few ? Math.min(most, 4 * few) : most, 2 * some[some.length >> 1]);
	}
	return pulse.top;
}

// A second is a column of the heat map if all seconds fit.
function pulseFits(s, width) {
	return s.rates && s.step === 1 && heat.cells * PULSE_LEAST <= width;
}

function pulseShade(share, theme) {
	if (pulse.shadesOf !== theme) {
		pulse.shadesOf = theme;
		pulse.shades = Array.from({length: SHADES + 1}, (_, i) => heatColor(0.06 + 0.94 * i / SHADES, theme));
	}
	return share ? pulse.shades[Math.min(SHADES, Math.round(share * SHADES))] : theme.field;
}

// Draws the parts of one second at x.
function drawSecond(ctx, s, second, x, width, tall, theme) {
	const at = (second - s.begin) * s.parts, top = pulseTop(s) || 1, gap = tall > 5 ? 1 : 0;
	for (let k = 0; k < s.parts; k++) {
		ctx.fillStyle = pulseShade(s.rates[at + k] / top, theme);
		ctx.fillRect(x, k * tall, width, tall - gap);
	}
}

// --- the separate strip

function buildPulse() {
	ui.pulse = element('canvas', {display: 'none', cursor: 'crosshair', touchAction: 'none', marginTop: '4px'}, {id: 'pulse',
		'aria-hidden': 'true'});
	return ui.pulse;
}

// The seconds shown; they move only when the selection leaves them.
function placePulse(s, width) {
	const [from, to] = view.stretch, fits = Math.min(Math.floor(width / PULSE_WIDE), s.end - s.begin);
	if (pulse.count !== fits || from < pulse.from || Math.min(to, from + fits) > pulse.from + fits)
		pulse.from = Math.max(s.begin, Math.min(s.end - fits, Math.round((from + Math.min(to, from + fits) - fits) / 2)));
	pulse.count = fits;
	pulse.cell = width / fits;
}

function drawPulse(s, theme, ratio, width) {
	const shown = s.rates && view.stretch && !pulseFits(s, width) && !heat.marked;
	ui.pulse.style.display = shown ? 'block' : 'none';
	if (!shown)
		return;
	const ctx = ui.pulse.getContext('2d'), gap = pulse.cell > 4 ? 1 : 0, [from, to] = view.stretch;
	placePulse(s, width);
	ui.pulse.width = Math.round(width * ratio);
	ui.pulse.height = Math.round((PULSE_HEIGHT + HEAT_AXIS) * ratio);
	ui.pulse.style.width = width + 'px';
	ui.pulse.style.height = PULSE_HEIGHT + HEAT_AXIS + 'px';
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	for (let i = 0; i < pulse.count; i++) {
		const second = pulse.from + i, chosen = second >= from && second < to;
		ctx.globalAlpha = chosen ? 1 : 0.3;
		drawSecond(ctx, s, second, i * pulse.cell, pulse.cell - gap, PULSE_HEIGHT / s.parts, theme);
		if (chosen) {
			ctx.fillStyle = theme.accent;
			ctx.fillRect(i * pulse.cell, PULSE_HEIGHT, pulse.cell - gap, 2);
		}
	}
	drawAxis(ctx, theme, pulse.from, pulse.from + pulse.count, pulse.cell, width, PULSE_HEIGHT);
}

function pulseSecondAt(e) {
	const r = ui.pulse.getBoundingClientRect();
	return pulse.from + Math.max(0, Math.min(pulse.count - 1, Math.floor((e.clientX - r.left) / pulse.cell)));
}

function onPulsePointer() {
	let anchor = null;
	ui.pulse.addEventListener('pointerdown', e => {
		anchor = pulseSecondAt(e);
		ui.pulse.setPointerCapture(e.pointerId);
		chooseSpan(anchor, anchor + 1);
	});
	ui.pulse.addEventListener('pointermove', e => {
		const second = pulseSecondAt(e);
		if (anchor !== null)
			chooseSpan(Math.min(anchor, second), Math.max(anchor, second) + 1);
		else
			ui.heatLine.textContent = partText(view.graph.slices, second,
				(e.clientY - ui.pulse.getBoundingClientRect().top) / PULSE_HEIGHT);
	});
	for (const type of ['pointerup', 'pointercancel', 'pointerleave'])
		ui.pulse.addEventListener(type, () => {
			anchor = null;
			heatText();
		});
}

// The value of the part of a second at a relative height of its column.
function partText(s, second, down) {
	const k = Math.max(0, Math.min(s.parts - 1, Math.floor(down * s.parts))), ms = 1000 / s.parts;
	const much = s.rates[(second - s.begin) * s.parts + k] / s.parts;
	return whenText(s, second, second + 1) + ' and ' + k * ms + ' to ' + (k + 1) * ms + ' ms \u00b7 about ' +
		(view.graph.byValue ? valueText(much, view.graph.facts.unit) : thousands(much) + ' samples');
}
