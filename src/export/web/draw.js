// SPDX-License-Identifier: Apache-2.0
// Flame graph: layout and drawing of boxes.

function typeOf(i) {
	return String.fromCharCode(view.t.type[i]);
}

function contentHeight() {
	return view.t.levels * ROW + 8;
}

function clampScroll() {
	view.scroll = Math.max(0, Math.min(view.scroll, contentHeight() - view.height));
}

// The y coordinate of a level. Flames grow from the bottom, icicles from the top.
function levelY(level) {
	if (!view.flip)
		return level * ROW + 4 - view.scroll;
	return Math.max(view.height, contentHeight()) - (level + 1) * ROW - 4 - view.scroll;
}

function levelAt(y) {
	const first = levelY(0);
	return Math.floor(view.flip ? (first + ROW - y) / ROW : (y - first) / ROW);
}

function ancestorAt(i, level) {
	while (i >= 0 && view.t.level[i] > level)
		i = view.t.parent[i];
	return i;
}

function childAt(i, value) {
	const t = view.t;
	for (let c = i + 1; c < t.end[i]; c = t.end[c])
		if (value >= t.start[c] && value < t.start[c] + t.total[c])
			return c;
	return -1;
}

function nodeAt(x, y) {
	const t = view.t, level = levelAt(y), base = t.level[view.zoom];
	if (level < 0 || x < 0 || x >= view.width)
		return -1;
	if (level <= base)
		return ancestorAt(view.zoom, level);
	const value = t.start[view.zoom] + x / view.width * t.total[view.zoom];
	let i = view.zoom;
	while (i >= 0 && t.level[i] < level)
		i = childAt(i, value);
	return i;
}

function isAbove(i) {
	return i <= view.zoom && view.t.end[i] > view.zoom;
}

function boxOf(i) {
	const t = view.t, y = levelY(t.level[i]);
	if (isAbove(i))
		return {x: 0, y, w: view.width};
	const scale = t.total[view.zoom] ? view.width / t.total[view.zoom] : 0;
	return {x: (t.start[i] - t.start[view.zoom]) * scale, y, w: t.total[i] * scale};
}

function showLevel(level) {
	const y = levelY(level);
	if (y < 0)
		view.scroll += y - ROW;
	else if (y + ROW > view.height)
		view.scroll += y + 2 * ROW - view.height;
	clampScroll();
}

function colorOf(i) {
	const type = typeOf(i), key = view.color === 'self' || view.color === 'diff' ? -1 : view.t.name[i] * 32 + view.t.type[i] - 65;
	let c = key < 0 ? undefined : view.colors.get(key);
	if (c === undefined) {
		c = COLORS[view.color](view, view.t, i, type);
		if (key >= 0)
			view.colors.set(key, c);
	}
	return c;
}

// The forms of a name with their widths, longest first.
function formsOf(ctx, i) {
	const key = view.t.name[i] * 32 + view.t.type[i] - 65;
	let forms = view.fits.get(key);
	if (!forms) {
		forms = ladder(view.graph.names[view.t.name[i]], typeOf(i)).map(text => ({text, width: -1}));
		view.fits.set(key, forms);
	}
	return forms;
}

function fit(ctx, i, width) {
	const forms = formsOf(ctx, i);
	let last = null;
	for (const form of forms) {
		if (form.width < 0)
			form.width = ctx.measureText(form.text).width;
		if (form.width <= width)
			return form.text;
		last = form;
	}
	let low = 2, high = Math.min(last.text.length - 1, Math.ceil(width / 3));
	while (low < high) {
		const mid = (low + high + 1) >> 1;
		if (ctx.measureText(last.text.slice(0, mid) + '\u2026').width <= width)
			low = mid;
		else
			high = mid - 1;
	}
	const text = last.text.slice(0, low) + '\u2026';
	return low > 2 || ctx.measureText(text).width <= width ? text : '';
}

function drawBox(ctx, i, x, y, w) {
	const theme = THEMES[view.dark ? 'dark' : 'light'], above = isAbove(i) && i !== view.zoom;
	const matched = view.nameHit && view.nameHit[view.t.name[i]];
	ctx.globalAlpha = view.nameHit && !matched ? theme.dim : above ? 0.55 : 1;
	ctx.fillStyle = matched ? shade(...theme.match.slice(0, 3), false) : colorOf(i);
	const gap = w > 3 ? 0.7 : 0;
	ctx.fillRect(x, y, w - gap, ROW - 1);
	if (w < 22)
		return;
	const glyph = changeGlyph(i), text = fit(ctx, i, w - 9 - (glyph ? 14 : 0));
	if (text) {
		ctx.globalAlpha = view.nameHit && !matched ? 0.6 : above ? 0.8 : 1;
		ctx.fillStyle = matched && !view.dark ? '#2a0718' : theme.box;
		ctx.fillText(glyph + text, x + 4, y + ROW / 2);
	}
}

function drawNodes(ctx) {
	const t = view.t, z = view.zoom, scale = t.total[z] ? view.width / t.total[z] : 0;
	const pixel = 1 / (window.devicePixelRatio || 1), lastX = new Float64Array(t.levels + 1).fill(-1);
	const first = t.start[z];
	for (let i = t.parent[z]; i >= 0; i = t.parent[i])
		drawBox(ctx, i, 0, levelY(t.level[i]), view.width);
	for (let i = z; i < t.end[z];) {
		if (!t.total[i] && i !== z) {
			i = t.end[i];
			continue;
		}
		const x = (t.start[i] - first) * scale, w = i === z ? view.width : t.total[i] * scale;
		const level = t.level[i], y = levelY(level);
		if (w < 1) {
			// Boxes narrower than a pixel are drawn one pixel wide, so that a group of them is not invisible.
			const at = Math.floor(x / pixel) * pixel;
			if (at <= lastX[level]) {
				i = t.end[i];
				continue;
			}
			lastX[level] = at;
		}
		if (y > -ROW && y < view.height)
			drawBox(ctx, i, x, y, Math.max(w, pixel));
		i++;
	}
}

function drawOutline(ctx, i, color, width) {
	const b = boxOf(i);
	ctx.globalAlpha = 1;
	ctx.strokeStyle = color;
	ctx.lineWidth = width;
	ctx.strokeRect(b.x + 0.5, b.y + 0.5, Math.max(b.w - 1.7, 1), ROW - 2);
}

function drawScrollBar(ctx, theme) {
	const all = contentHeight();
	if (all <= view.height)
		return;
	ctx.globalAlpha = 0.45;
	ctx.fillStyle = theme.faint;
	const size = Math.max(24, view.height * view.height / all);
	const at = (view.height - size) * view.scroll / (all - view.height);
	ctx.fillRect(view.width + 3, at, BAR - 5, size);
}

function draw() {
	view.pending = false;
	if (view.tab !== 'flame')
		return;
	const theme = THEMES[view.dark ? 'dark' : 'light'], ratio = window.devicePixelRatio || 1;
	const ctx = ui.canvas.getContext('2d');
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.globalAlpha = 1;
	ctx.fillStyle = theme.ground;
	ctx.fillRect(0, 0, view.width + BAR, view.height);
	ctx.font = FONT;
	ctx.textBaseline = 'middle';
	drawNodes(ctx);
	if (view.hover >= 0)
		drawOutline(ctx, view.hover, theme.ink, 1);
	if (view.focus >= 0)
		drawOutline(ctx, view.focus, theme.accent, 2);
	drawScrollBar(ctx, theme);
}

function redraw() {
	if (!view.pending)
		requestAnimationFrame(() => view.pending && draw());
	view.pending = true;
}

function measure() {
	const ratio = window.devicePixelRatio || 1;
	if (view.tab !== 'flame')
		return;
	const width = Math.max(1, ui.stage.clientWidth), height = Math.max(1, ui.stage.clientHeight);
	view.width = Math.max(1, width - BAR);
	view.height = height;
	ui.canvas.width = Math.round(width * ratio);
	ui.canvas.height = Math.round(height * ratio);
	ui.canvas.style.width = width + 'px';
	ui.canvas.style.height = height + 'px';
	clampScroll();
}

// Resizing clears a canvas, and the browser may show it before the next animation frame: draw at once.
function resize() {
	measure();
	draw();
	drawHeat();
}
