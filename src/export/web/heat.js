// SPDX-License-Identifier: Apache-2.0
// Flame graph: the heat map over time, and selecting a time range.
//
// A cell is one step of the recording (one second, or more in long recordings), a column several steps from top to bottom.
// The shade shows the samples of the cell within the zoom and the search.

const HEAT_HEIGHT = 66, HEAT_AXIS = 16, HEAT_LEAST = 5, HEAT_ROWS = [1, 5, 10, 20, 30, 60, 120, 300];
const heat = {cells: 0, rows: 1, columns: 0, cell: 0, tall: 0, sums: null, rates: null, top: 0, hover: -1, anchor: -1, spikes: null,
	spike: -1, height: HEAT_HEIGHT, parts: 0, marked: false, down: 0};

function buildHeat() {
	ui.heat = element('canvas', {display: 'block', outlineOffset: '1px', cursor: 'crosshair', touchAction: 'none'},
		{tabindex: '0', id: 'heat', role: 'application',
			'aria-label': 'heat map over time; arrow keys select a time range, with Shift they extend it, Escape clears the selection'});
	ui.heatLine = element('div', {fontVariantNumeric: 'tabular-nums', flex: '1 1 auto', minWidth: '0', overflow: 'hidden',
		textOverflow: 'ellipsis', whiteSpace: 'nowrap'}, {id: 'stretch'});
	ui.heatHint = element('div', {fontSize: '12px', whiteSpace: 'nowrap'}, {id: 'resolution'});
	ui.spike = button('Next spike', 's: select the next period with far more samples than usual', nextSpike);
	ui.allTime = button('All time', 'Esc: clear the selection', () => setStretch(null));
	return element('div', {display: 'none', padding: '0 14px 4px', flex: 'none'}, {},
		element('div', {display: 'flex', gap: '8px 14px', alignItems: 'center', paddingBottom: '6px'}, {}, ui.heatLine,
			ui.heatHint, ui.allTime, ui.spike), ui.heat, buildPulse());
}

// Values of cells from slices; a slice longer than a cell is spread evenly.
function heatCells(s) {
	heat.cells = Math.max(1, Math.ceil((s.end - s.begin) / s.step));
	heat.rates = new Float64Array(heat.cells);
	for (let i = 0; i < s.count; i++) {
		const first = Math.floor((s.from[i] - s.begin) / s.step);
		const last = Math.min(heat.cells - 1, Math.max(first, Math.ceil((s.from[i] + s.span[i] - s.begin) / s.step) - 1));
		for (let c = first; c <= last; c++)
			heat.rates[c] += heat.sums[i] / (last - first + 1) / s.step;
	}
	// A uniform load gets a medium shade.
	const sorted = Float64Array.from(heat.rates).sort();
	heat.top = Math.max(sorted[heat.cells - 1], 2 * sorted[heat.cells >> 1]);
}

// Base nodes within the zoom and the search; null: all.
function heatMarks() {
	const base = view.graph.base, z = view.zoom;
	if (!z && !view.hit && !view.hidden.length)
		return null;
	const marks = new Uint8Array(base.count), path = view.reversed ? pathOf(z) : null;
	const gone = view.hidden.map(h => ({reversed: h.reversed, path: h.path, at: h.reversed ? 0 : nodeByPath(view.top, h.path)}));
	for (let b = 0; b < base.count; b++) {
		const i = view.to ? view.to[b] : b;
		let mark = path ? endsBelow(view.top, view.graph.names, i, path) : i >= z && i < view.top.end[z];
		mark = mark && (!view.hit || view.hit[i]);
		for (const h of gone)
			mark = mark && !(h.reversed ? endsBelow(view.top, view.graph.names, i, h.path) :
				i >= h.at && i < view.top.end[h.at]);
		marks[b] = mark;
	}
	return marks;
}

function updateHeat() {
	const s = view.graph.slices;
	ui.time.style.display = s && s.count ? 'block' : 'none';
	ui.bar.style.paddingTop = s && s.count ? '4px' : '0';
	if (!s || !s.count)
		return;
	const marks = heatMarks();
	heat.marked = marks !== null;
	heat.sums = sliceSums(s, marks);
	heatCells(s);
	heat.spikes = null;
	ui.allTime.style.display = view.stretch ? 'inline-block' : 'none';
	drawHeat();
	heatText();
}

// --- drawing

function heatMeasure(s) {
	const ratio = window.devicePixelRatio || 1, width = Math.max(1, ui.time.clientWidth - 28);
	const fine = pulseFits(s, width);
	heat.rows = fine ? 1 : HEAT_ROWS.find(r => Math.ceil(heat.cells / r) * HEAT_LEAST <= width) || 600;
	heat.height = fine ? PULSE_HEIGHT : HEAT_HEIGHT;
	heat.parts = fine && !heat.marked ? s.parts : 0;
	heat.columns = Math.ceil(heat.cells / heat.rows);
	heat.cell = Math.min(width / heat.columns, 24);
	heat.tall = heat.height / heat.rows;
	ui.heat.width = Math.round(width * ratio);
	ui.heat.height = Math.round((heat.height + HEAT_AXIS) * ratio);
	ui.heat.style.width = width + 'px';
	ui.heat.style.height = heat.height + HEAT_AXIS + 'px';
	ui.heatHint.textContent = 'a cell is ' + (heat.parts ? 1000 / s.parts + ' ms' : lengthText(s.step)) +
		(heat.rows > 1 || heat.parts ? ', a column ' + lengthText(s.step * heat.rows) : '') +
		(s.rates && !fine && !heat.marked ? (view.stretch ? '; in the strip below ' : '; of a selection ') + 1000 / s.parts + ' ms' : '');
	return [ratio, width];
}

function chosenCells(s) {
	if (!view.stretch)
		return null;
	return view.stretch.map((t, i) => i ? Math.ceil((t - s.begin) / s.step) : Math.floor((t - s.begin) / s.step));
}

function drawCell(ctx, c, theme, chosen) {
	const x = Math.floor(c / heat.rows) * heat.cell, y = c % heat.rows * heat.tall;
	const share = heat.top ? heat.rates[c] / heat.top : 0;
	const gap = heat.cell > 4 ? 1 : 0, tall = heat.tall > 4 ? heat.tall - 1 : heat.tall;
	ctx.globalAlpha = chosen && (c < chosen[0] || c >= chosen[1]) ? 0.3 : 1;
	ctx.fillStyle = share ? heatColor(0.06 + 0.94 * share, theme) : theme.field;
	if (heat.parts)
		drawSecond(ctx, view.graph.slices, view.graph.slices.begin + c, x, heat.cell - gap, heat.height / heat.parts, theme);
	// A single row of cells is drawn as a bar chart, which is easier to read than shades.
	const bar = heat.rows === 1 ? Math.max(1, tall * share) : tall;
	if (!heat.parts)
		ctx.fillRect(x, y + tall - bar, heat.cell - gap, bar);
	if (chosen && ctx.globalAlpha === 1) {
		ctx.fillStyle = theme.accent;
		ctx.fillRect(x, heat.rows === 1 ? heat.height : y + tall - Math.min(2, tall / 3), heat.cell - gap,
			heat.rows === 1 ? 2 : Math.min(2, tall / 3));
	}
}

// Time labels below cells.
function drawAxis(ctx, theme, from, to, second, width, y) {
	const nice = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200];
	const every = nice.find(n => n * second >= 64) || 86400;
	ctx.globalAlpha = 1;
	ctx.fillStyle = theme.faint;
	ctx.textBaseline = 'alphabetic';
	ctx.font = FONT.replace('12px', '11px');
	for (let t = Math.ceil(from / every) * every; t <= to; t += every) {
		const x = (t - from) * second;
		if (x + 34 < width)
			ctx.fillText(clock(t), x, y + 13);
	}
}

function drawHeat() {
	const s = view.graph && view.graph.slices, theme = THEMES[view.dark ? 'dark' : 'light'];
	if (!s || !s.count || !heat.rates)
		return;
	const [ratio, width] = heatMeasure(s), ctx = ui.heat.getContext('2d'), chosen = chosenCells(s);
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	for (let c = 0; c < heat.cells; c++)
		drawCell(ctx, c, theme, chosen);
	if (heat.hover >= 0 && heat.hover < heat.cells) {
		ctx.globalAlpha = 1;
		ctx.strokeStyle = theme.ink;
		ctx.strokeRect(Math.floor(heat.hover / heat.rows) * heat.cell + 0.5, heat.hover % heat.rows * heat.tall + 0.5,
			heat.cell - 1.5, Math.max(heat.tall - 1.5, 1));
	}
	drawAxis(ctx, theme, s.begin, s.end, heat.cell / (heat.rows * s.step), width, heat.height);
	drawPulse(s, theme, ratio, width);
}

// --- texts

function whenText(s, from, to) {
	const start = s.start ? ' (' + new Date(s.start + from * 1000).toISOString().slice(11, 19) + ' UTC)' : '';
	return clock(from) + (to > from + s.step ? ' to ' + clock(to) : '') + start;
}

// Self values by name.
function selfByName(t) {
	const sums = new Float64Array(view.graph.names.length);
	for (let i = 1; i < t.count; i++)
		sums[t.name[i]] += t.self[i];
	return sums;
}

// Self values by name outside of the selected range.
function elsewhere() {
	const stretch = view.stretch, hiddenSum = view.hiddenSum;
	view.stretch = null;
	const all = selfByName(shapeTop()), here = selfByName(view.top);
	view.stretch = stretch;
	view.hiddenSum = hiddenSum;
	const sums = all.map((n, name) => Math.max(0, n - here[name]));
	return {sums, all: sums.reduce((a, b) => a + b, 0)};
}

// The method whose share of the range exceeds its share of the rest most.
function unlike() {
	const here = selfByName(view.top), rest = elsewhere(), all = view.top.total[0];
	let best = -1, most = 0.02;
	for (let name = 0; name < here.length; name++) {
		const more = here[name] / (all || 1) - rest.sums[name] / (rest.all || 1);
		if (more > most) {
			most = more;
			best = name;
		}
	}
	return best < 0 ? '' : ' \u00b7 unlike the rest: ' + view.graph.names[best] + ' ' + percent(here[best], all) +
		' here, ' + percent(rest.sums[best], rest.all) + ' elsewhere';
}

function heatText() {
	const s = view.graph.slices;
	if (heat.anchor < 0 && heat.hover >= 0 && heat.hover < heat.cells) {
		const from = s.begin + heat.hover * s.step, rate = heat.rates[heat.hover] * s.step;
		if (heat.parts) {
			ui.heatLine.textContent = partText(s, from, heat.down);
			return;
		}
		ui.heatLine.textContent = whenText(s, from, from + s.step) + ' \u00b7 ' +
			(view.graph.byValue ? valueText(rate, view.graph.facts.unit) : thousands(rate) + ' samples');
		return;
	}
	if (!view.stretch) {
		ui.heatLine.textContent = 'Time: drag over cells to select a range' +
			(view.zoom || view.query ? '; only the zoom and matches are shown' : '');
		return;
	}
	const [from, to] = view.stretch, all = view.graph.base.total[0], here = view.top.total[0];
	const usual = (all - here) / Math.max(1, s.end - s.begin - (to - from)), rate = here / (to - from);
	ui.heatLine.textContent = whenText(s, from, to) + ' \u00b7 ' + lengthText(to - from) + ' \u00b7 ' +
		(usual > 0 ? (rate / usual).toFixed(1) + ' times the rate elsewhere' : 'all samples') + unlike();
	ui.heatLine.title = ui.heatLine.textContent;
}

// --- selecting

function cellAt(e) {
	const r = ui.heat.getBoundingClientRect();
	const column = Math.floor((e.clientX - r.left) / heat.cell), row = Math.floor((e.clientY - r.top) / heat.tall);
	heat.down = (e.clientY - r.top) / heat.height;
	return Math.max(0, Math.min(heat.cells - 1, column * heat.rows + Math.max(0, Math.min(heat.rows - 1, row))));
}

// From one cell to another, both included.
function chooseCells(a, b) {
	const s = view.graph.slices;
	chooseSpan(s.begin + Math.min(a, b) * s.step, s.begin + (Math.max(a, b) + 1) * s.step);
}

// Slices are selected as a whole.
function chooseSpan(from, to) {
	const s = view.graph.slices, [first, last] = slicesIn(s, from, to);
	setStretch([Math.min(from, first < last ? s.from[first] : from),
		Math.max(to, first < last ? s.from[last - 1] + s.span[last - 1] : to)]);
}

function onHeatPointer() {
	let pending = false;
	onPulsePointer();
	ui.heat.addEventListener('pointerdown', e => {
		heat.anchor = cellAt(e);
		ui.heat.setPointerCapture(e.pointerId);
		chooseCells(heat.anchor, heat.anchor);
	});
	ui.heat.addEventListener('pointermove', e => {
		heat.hover = cellAt(e);
		if (pending)
			return;
		pending = true;
		requestAnimationFrame(() => {
			pending = false;
			if (heat.anchor >= 0 && heat.hover >= 0)
				chooseCells(heat.anchor, heat.hover);
			drawHeat();
			heatText();
		});
	});
	const end = e => {
		if (heat.anchor >= 0 && e.type === 'pointerup')
			chooseCells(heat.anchor, cellAt(e));
		heat.anchor = -1;
		if (e.type === 'pointerleave')
			heat.hover = -1;
		drawHeat();
		heatText();
	};
	for (const type of ['pointerup', 'pointercancel', 'pointerleave'])
		ui.heat.addEventListener(type, end);
}

// Arrow keys on the heat map. Returns false for other keys.
function heatKey(e) {
	const step = {ArrowDown: 1, ArrowUp: -1, ArrowRight: heat.rows, ArrowLeft: -heat.rows}[e.key];
	if (!step)
		return false;
	const s = view.graph.slices, chosen = chosenCells(s), clamp = c => Math.max(0, Math.min(heat.cells - 1, c));
	heat.hover = -1;
	if (!chosen)
		chooseCells(0, 0);
	else if (e.shiftKey)
		chooseCells(chosen[0], clamp(Math.max(chosen[0], chosen[1] - 1 + step)));
	else
		chooseCells(clamp(chosen[0] + step), clamp(chosen[0] + step));
	return true;
}

function shiftStretch(by) {
	const s = view.graph.slices, chosen = s && chosenCells(s);
	if (!chosen)
		return;
	const length = chosen[1] - chosen[0], from = Math.max(0, Math.min(heat.cells - length, chosen[0] + by * length));
	chooseCells(from, from + length - 1);
}

// Runs of outliers, largest first: cells far above the median, relative to the usual deviation.
function findSpikes() {
	const sorted = Float64Array.from(heat.rates).sort(), median = sorted[sorted.length >> 1];
	const off = heat.rates.map(r => Math.abs(r - median)).sort();
	const least = median + Math.max(6 * off[off.length >> 1], 0.3 * median, heat.top * 0.05), spikes = [];
	for (let c = 0; c < heat.cells; c++) {
		if (heat.rates[c] <= least)
			continue;
		const last = spikes[spikes.length - 1];
		if (last && c - last.to <= 1) {
			last.to = c;
			last.more += heat.rates[c] - median;
		} else {
			spikes.push({from: c, to: c, more: heat.rates[c] - median});
		}
	}
	return spikes.sort((a, b) => b.more - a.more);
}

function nextSpike() {
	if (!view.graph.slices || !heat.rates)
		return;
	const spikes = heat.spikes || findSpikes();
	if (!spikes.length) {
		say('no spikes: the load is even');
		ui.heatLine.textContent = 'No spikes: the load is even';
		return;
	}
	heat.spike = (heat.spike + 1) % spikes.length;
	heat.hover = -1;
	chooseCells(spikes[heat.spike].from, spikes[heat.spike].to);
	heat.spikes = spikes;
}
