// SPDX-License-Identifier: Apache-2.0
// Flame graph: the reversed tree (from leaves to callers), limited to what is visible.

// Leaves are merged first. Rebuilt for each zoom: contains what is wide enough to be visible there, and above
// the zoom only its ancestors. `path`: names from the first level down.
function reverse(t, names, hit, path) {
	const out = {level: [], name: [], type: [], total: [], other: [], matched: []};
	const partOf = new Int32Array(names.length), seen = new Uint32Array(t.count);
	const place = new Uint32Array(t.count);
	let stamp = 0, least = 0;

	function emit(level, name, type, total, other, matched) {
		out.level.push(level);
		out.name.push(name);
		out.type.push(type);
		out.total.push(total);
		out.other.push(other);
		out.matched.push(matched);
	}
	function split(g) {
		const parts = [];
		for (let k = 0; k < g.at.length; k++) {
			const name = t.name[g.at[k]];
			let part = partOf[name] - 1;
			if (part < 0) {
				part = parts.length;
				partOf[name] = part + 1;
				parts.push({name, total: 0, other: 0, matched: 0, type: 0, votes: 0, items: []});
			}
			const p = parts[part], type = t.type[g.at[k]];
			p.total += g.total[k];
			p.other += g.other[k];
			p.matched += g.matched[k];
			p.items.push(k);
			p.votes += type === p.type ? g.total[k] : -g.total[k];
			if (p.votes < 0) {
				p.type = type;
				p.votes = -p.votes;
			}
		}
		for (const p of parts)
			partOf[p.name] = 0;
		return parts;
	}
	// The callers of a part, one level up; equal ones are merged.
	function callers(g, items) {
		const up = {at: [], total: [], other: [], matched: []};
		stamp++;
		for (const k of items) {
			const p = t.parent[g.at[k]];
			if (p <= 0)
				continue;
			if (seen[p] !== stamp) {
				seen[p] = stamp;
				place[p] = up.at.length;
				up.at.push(p);
				up.total.push(0);
				up.other.push(0);
				up.matched.push(0);
			}
			up.total[place[p]] += g.total[k];
			up.other[place[p]] += g.other[k];
			up.matched[place[p]] += g.matched[k];
		}
		return up;
	}
	function walk(g, level) {
		let parts = split(g);
		if (level <= path.length)
			parts = parts.filter(p => names[p.name] === path[level - 1]);
		parts.sort((a, b) => a.name - b.name);
		for (const p of parts) {
			if (level === path.length)
				least = p.total * LEAST_SHARE;
			if (p.total < least)
				continue;
			emit(level, p.name, p.type, p.total, p.other, p.matched);
			walk(callers(g, p.items), level + 1);
		}
	}
	const first = {at: [], total: [], other: [], matched: []};
	let matched = 0;
	for (let i = 1; i < t.count; i++) {
		if (t.self[i] > 0 || t.selfOther[i] > 0) {
			first.at.push(i);
			first.total.push(t.self[i]);
			first.other.push(t.selfOther[i]);
			first.matched.push(hit && hit[i] ? t.self[i] : 0);
			matched += hit && hit[i] ? t.self[i] : 0;
		}
	}
	emit(0, t.name[0], t.type[0], t.total[0], t.other[0], matched);
	if (!path.length)
		least = t.total[0] * LEAST_SHARE;
	walk(first, 1);
	const r = newNodes(out.level.length);
	for (const key of Object.keys(out))
		r[key].set(out[key]);
	return finish(link(r));
}
