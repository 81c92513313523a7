// The page: each section is a function of a program that returns elements. What is chosen in one is shown in all.

const data = JSON.parse(document.getElementById('data').textContent);
const main = document.querySelector('main');
let chosen = null; // called with the number of a node

const remarksOf = node => data.remarks.filter(r => r.text.startsWith(`'${node.name}'`));
const roofAt = intensity => Math.min(data.machine.products, intensity * data.machine.memory);
const intensityOf = node => node.flop / Math.max(node.bytes + node.linked, 1);
const sizeText = tile => `${tile.name}: ${tile.size || '*'} of ${tile.of[0]}`;
const tensorText = t => `${t.name}: ${t.elem}[${t.dim.join(', ')}]`;
const kindOf = node => ['roles', 'plain', 'collective'].includes(node.plan) ? node.plan : 'schedule';

// Which rate bounds a kernel, and how far its predicted time is from what that rate alone would take.
function boundOf(node) {
  if (!data.machine || node.us === undefined) return null;
  const alone = [['products', node.flop / data.machine.products], ['memory', node.bytes / data.machine.memory],
                 ['link', node.linked / data.machine.link]];
  const [name, seconds] = alone.reduce((most, one) => one[1] > most[1] ? one : most);
  return {name, share: Math.min(seconds * 1e6 / node.us, 1)};
}

function numbers(program) {
  const tile = (value, text) => element('div', {}, element('b', {}, value), element('span', {}, text));
  const kernels = program.nodes.filter(n => n.tiles).length;
  const made = element('div', {class: 'numbers'}, tile(String(kernels), kernels === 1 ? 'kernel' : 'kernels'));
  if (program.us !== undefined) made.prepend(tile(time(program.us), data.machine.gpu ? 'predicted' : 'predicted, on one core of a rank'));
  const taxes = [['nodes', 'nodes'], ['barriers', 'barriers of all ranks'], ['bytes', 'bytes of intermediates']];
  for (const [key, text] of taxes) {
    const [before, after] = [program.before[key], program.after[key]].map(short);
    made.append(tile(before === after ? before : `${before} → ${after}`, text));
  }
  return made;
}

// ---- dataflow ----

// Who wrote each tensor last when a node reads it: [writer, reader, tensor], numbers of nodes.
function edgesOf(program) {
  const writer = new Map(), edges = [];
  program.nodes.forEach((node, i) => {
    for (const t of node.reads) if (writer.has(t)) edges.push([writer.get(t), i, t]);
    for (const t of node.writes) writer.set(t, i);
  });
  return edges;
}

const ROW = 46, LEFT = 190, CARD = 330;

function arcs(program) {
  return edgesOf(program).map(([from, to, t]) => {
    const y = [from, to].map(i => ROW * i + ROW / 2), far = Math.min(18 + 9 * (to - from), LEFT - 14);
    const made = shape('path', {class: 'arc', d: `M${LEFT} ${y[0] + 8} C${LEFT - far} ${y[0] + 8} ${LEFT - far} ${y[1] - 8} ${LEFT} ${y[1] - 8}`});
    made.dataset.nodes = `${from} ${to}`;
    return told(made, `${tensorText(program.tensors[t])}, ${short(program.tensors[t].bytes)}B`);
  });
}

function card(program, node, i, most) {
  const y = ROW * i + 4, us = node.us || 0, outside = t => program.tensors[t].role !== 'between';
  const tiles = node.tiles ? node.tiles.map(sizeText).join(', ') : '';
  const made = shape('g', {class: 'node'}, shape('rect', {class: 'card', x: LEFT, y, width: CARD, height: ROW - 8, rx: 5}),
    shape('rect', {class: kindOf(node), x: LEFT, y, width: 5, height: ROW - 8}), label(LEFT + 14, y + 16, node.name),
    label(LEFT + 14, y + 31, `${node.plan}${tiles && '; ' + tiles}`.slice(0, 54), {class: 'soft'}),
    shape('rect', {class: kindOf(node), x: LEFT + CARD + 12, y: y + 8, width: Math.max(260 * us / most, 1), height: 10, rx: 2}),
    label(LEFT + CARD + 18 + 260 * us / most, y + 17, node.us === undefined ? '' : time(us), {class: 'soft'}),
    label(LEFT + CARD + 12, y + 32, [...node.reads, ...node.writes].filter(outside).map(t => program.tensors[t].name).join(' ').slice(0, 60), {class: 'soft'}));
  made.dataset.node = i;
  made.addEventListener('click', () => chosen(i));
  return told(made, [...node.reads.map(t => 'reads ' + tensorText(program.tensors[t])), ...node.writes.map(t => 'writes ' + tensorText(program.tensors[t]))].join('\n'));
}

function dataflow(program) {
  const most = Math.max(...program.nodes.map(n => n.us || 0), 1e-9);
  const svg = picture(LEFT + CARD + 340, ROW * program.nodes.length, 'nodes in order, and what they hand on');
  svg.append(...arcs(program), ...program.nodes.map((node, i) => card(program, node, i, most)));
  return [element('p', {}, 'Nodes in their order; a curve leads from the node that writes a tensor to one that reads it. Bars are predicted times, ' +
    'the words below arguments and results of the program. Click a node.'), element('div', {class: 'scroll'}, svg)];
}

// ---- time ----

const WIDE = 1100, LANE = 22;

function bars(lanes, total, unit) {
  const svg = picture(WIDE, LANE * lanes.length + 30, 'what runs when'), x = t => 90 + (WIDE - 100) * t / total;
  for (let t = 0, by = step(total, 8); t <= total; t += by)
    svg.append(shape('line', {class: 'axis', x1: x(t), x2: x(t), y1: 0, y2: LANE * lanes.length + 6}), label(x(t), LANE * lanes.length + 22, unit(t), {class: 'soft'}));
  lanes.forEach((lane, i) => {
    svg.append(label(0, LANE * i + 15, lane.name, {class: 'soft'}));
    for (const bar of lane.bars) {
      const width = Math.max(x(bar.to) - x(bar.from), .5), fits = Math.floor(width / 7) - 1;
      svg.append(told(shape('rect', {class: bar.kind, x: x(bar.from), width, y: LANE * i + 3, height: LANE - 6, rx: 1}), `${bar.name}: ${unit(bar.to - bar.from)}`));
      if (fits > 3) svg.append(label(x(bar.from) + 4, LANE * i + 15, bar.name.slice(0, fits), {class: 'inside'}));
    }
  });
  return element('div', {class: 'scroll'}, svg);
}

// One node after the other, as a GPU's queue runs them; on the host nodes of different workers may overlap.
function predicted(program) {
  let at = 0;
  const list = program.nodes.map(node => ({name: node.name, kind: kindOf(node), from: at, to: at += node.us || 0}));
  return bars([{name: 'one by one', bars: list}], Math.max(at, 1e-9), time);
}

function traced() {
  const events = data.trace.filter(e => e.ph === 'X'), begin = Math.min(...events.map(e => e.ts));
  const lanes = new Map(), names = new Map(data.trace.filter(e => e.name === 'process_name').map(e => [e.pid, e.args.name]));
  for (const e of events) {
    const name = `${names.get(e.pid) || e.pid} · ${e.tid}`, from = e.ts - begin, waited = Number((e.args || {}).waited_us) || 0;
    if (!lanes.has(name)) lanes.set(name, []);
    lanes.get(name).push({name: e.name, kind: 'roles', from, to: from + e.dur});
    if (waited > 0) lanes.get(name).push({name: `${e.name} waits`, kind: 'wait', from, to: from + waited});
  }
  const end = Math.max(...events.map(e => e.ts + e.dur));
  const note = data.tasks > events.length ? `The first ${events.length} of ${data.tasks} tasks. ` : '';
  return [element('p', {}, note + 'Measured: each bar is a task, red where it waited.'), bars([...lanes].map(([name, list]) => ({name, bars: list})), Math.max(end - begin, 1e-9), time)];
}

function timeline(program) {
  const made = program.nodes.some(n => n.us) ? [element('p', {}, 'Predicted, node after node.'), predicted(program)] : [];
  return data.trace && data.trace.some(e => e.ph === 'X') ? [...made, ...traced()] : made;
}

// ---- taxes of several ranks ----

// Rows of [words, [time, kind] ..]: a bar each.
function rowsOfBars(rows) {
  const most = Math.max(...rows.flatMap(([, ...list]) => list.map(([us]) => us)), 1e-9), svg = picture(760, rows.reduce((sum, row) => sum + 18 * (row.length - 1) + 10, 0), 'times');
  let y = 4;
  for (const [words, ...list] of rows) {
    svg.append(label(130, y + 12, words, {'text-anchor': 'end'}));
    for (const [us, kind] of list) {
      svg.append(shape('rect', {class: kind, x: 140, y, width: Math.max(480 * us / most, 1), height: 14, rx: 2}), label(148 + 480 * us / most, y + 11, time(us), {class: 'soft'}));
      y += 18;
    }
    y += 10;
  }
  return element('div', {class: 'scroll'}, svg);
}

function taxes(program) {
  if (!program.taxes) return [];
  const [before, after] = program.taxes;
  return [element('p', {}, 'What being cut into nodes costs, predicted: grey as written, blue as compiled.'),
    rowsOfBars(Object.keys(before).map(name => [name, [before[name], 'plain'], [after[name], 'roles']])),
    element('p', {}, 'What the program would take if one thing alone bounded it:'), rowsOfBars(Object.entries(program.bounds).map(([name, us]) => [name, [us, 'roles']]))];
}

// ---- roofline ----

function roofline(program) {
  const nodes = program.nodes.map((node, i) => ({node, i})).filter(({node}) => node.flop > 0 && node.us > 0 && node.bytes > 0);
  if (!data.machine || !nodes.length) return [element('p', {}, 'No kernel has products: memory bounds all of them.')];
  const xs = powers(Math.min(...nodes.map(({node}) => intensityOf(node)), 1), Math.max(...nodes.map(({node}) => intensityOf(node)), 10 * roofAt(Infinity) / data.machine.memory));
  const ys = powers(Math.min(...nodes.map(({node}) => node.flop / node.us * 1e6)), roofAt(Infinity));
  const [w, h, left, below] = [820, 380, 70, 40], across = v => left + (w - left - 20) * Math.log10(v / xs[0]) / Math.log10(xs.at(-1) / xs[0]);
  const up = v => h - below - (h - below - 12) * Math.log10(v / ys[0]) / Math.log10(ys.at(-1) / ys[0]);
  const svg = picture(w, h, 'speed over operations a byte');
  for (const v of xs) svg.append(shape('line', {class: 'axis', x1: across(v), x2: across(v), y1: 12, y2: h - below}), label(across(v), h - below + 16, short(v), {class: 'soft', 'text-anchor': 'middle'}));
  for (const v of ys) svg.append(shape('line', {class: 'axis', x1: left, x2: w - 20, y1: up(v), y2: up(v)}), label(left - 6, up(v) + 4, short(v), {class: 'soft', 'text-anchor': 'end'}));
  const ridge = data.machine.products / data.machine.memory, low = Math.max(xs[0], ys[0] / data.machine.memory);
  svg.append(shape('path', {class: 'roof', d: `M${across(low)} ${up(roofAt(low))} L${across(ridge)} ${up(data.machine.products)} L${across(xs.at(-1))} ${up(data.machine.products)}`}),
    label(w / 2, h - 6, 'operations of products a byte of memory', {class: 'soft', 'text-anchor': 'middle'}), label(left, 10, 'operations a second', {class: 'soft'}));
  for (const {node, i} of nodes) {
    const dot = shape('circle', {class: kindOf(node), cx: across(intensityOf(node)), cy: up(node.flop / node.us * 1e6), r: 5, 'fill-opacity': .75});
    dot.addEventListener('click', () => chosen(i));
    svg.append(told(dot, `${node.name}: ${share(node.flop / node.us * 1e6 / roofAt(intensityOf(node)))} of the roof`));
  }
  return [element('p', {}, 'The roof is what the machine reaches in practice: memory to the left, products of matrices to the right. Dots are kernels at their predicted times.'), element('div', {class: 'scroll'}, svg)];
}

function kernels(program) {
  const number = (x, words) => ({number: x ? words(x) : ''});
  const rows = program.nodes.map((node, i) => {
    const bound = boundOf(node);
    return [number(i + 1, String), node.name, node.plan, (node.tiles || []).map(sizeText).join(', '), number(node.tasks, short), number(node.flop, short),
            number(node.bytes, short), number(node.us, time), bound ? bound.name : '', number(bound && bound.share, share)];
  });
  const made = table(['', 'node', 'computed by', 'tiles', 'tasks', 'flop', 'bytes', 'predicted', 'bound by', 'of that bound'], rows);
  made.querySelectorAll('tbody tr').forEach((row, i) => {
    row.tabIndex = 0;
    row.dataset.node = i;
    row.addEventListener('click', () => chosen(i));
    row.addEventListener('keydown', event => event.key === 'Enter' && chosen(i));
  });
  return [made, element('div', {id: 'about'})];
}

// ---- source beside what is emitted ----

const baseName = path => path.split('/').at(-1);
const BLOCK = 100; // lines that are laid out together

// Of each line of an emitted text: "file:line" of the source that it was made from, or ''.
function originsOf(text) {
  let origin = '';
  return text.split('\n').map(line => {
    const mark = line.match(/([\w.-]+\.tile):(\d+)/);
    if (mark) origin = `${mark[1]}:${mark[2]}`;
    else if (line.startsWith('}') || line === '') origin = '';
    return origin;
  });
}

function lines(text, originOf, notes = new Map()) {
  const blocks = [];
  text.split('\n').forEach((line, i) => {
    if (i % BLOCK === 0) blocks.push(element('div', {class: 'block'}));
    const made = element('div', {class: 'line'}, element('i', {}, String(i + 1)), line || ' ');
    if (originOf(i)) made.classList.add('linked'), made.dataset.origin = originOf(i);
    for (const note of notes.get(i + 1) || []) made.append(element('u', {}, `   ${note}`));
    blocks.at(-1).append(made);
  });
  return blocks;
}

function pane(texts, first, show) {
  const select = element('select', {'aria-label': 'file'}, ...texts.map((t, i) => element('option', {value: i}, t.path)));
  const view = element('div', {class: 'text', tabindex: 0}), made = element('div', {class: 'pane'}, select, view);
  made.show = i => { select.value = i; view.replaceChildren(...show(texts[i], i)); };
  select.addEventListener('change', () => made.show(Number(select.value)));
  made.show(first);
  return made;
}

function choose(root, origin, other) {
  root.querySelectorAll('.line.chosen').forEach(line => line.classList.remove('chosen'));
  const found = [...root.querySelectorAll('.line')].filter(line => line.dataset.origin === origin);
  found.forEach(line => line.classList.add('chosen'));
  const first = found.find(line => other.contains(line));
  if (first) other.querySelector('.text').scrollTop = first.offsetTop - other.querySelector('.text').offsetTop - 100;
}

function texts(program) {
  if (!program.emitted.length) return [element('p', {}, 'Nothing is emitted for this target.')];
  const notes = data.sources.map((_, file) => {
    const byLine = new Map();
    for (const r of data.remarks.filter(r => r.file === file)) byLine.set(r.line, [...(byLine.get(r.line) || []), `${r.pass}: ${r.text}`]);
    return byLine;
  });
  const origins = new Set(program.emitted.flatMap(e => originsOf(e.text)));
  const sources = data.sources.length ? data.sources : [{path: '', text: ''}];
  const wanted = sources.findIndex(s => s.path === data.file);
  const left = pane(sources, Math.max(wanted, 0), (s, i) => lines(s.text, n => { const at = `${baseName(s.path)}:${n + 1}`; return origins.has(at) ? at : ''; }, notes[i]));
  const right = pane(program.emitted, program.emitted.findIndex(e => e.path.endsWith('.hip')) < 0 ? 0 : program.emitted.findIndex(e => e.path.endsWith('.hip')),
    e => { const list = originsOf(e.text); return lines(e.text, n => list[n]); });
  const panes = element('div', {class: 'panes'}, left, right);
  panes.addEventListener('click', event => {
    const line = event.target.closest('.line.linked');
    if (!line) return;
    const fromLeft = left.contains(line), origin = line.dataset.origin;
    if (!fromLeft) {
      const file = sources.findIndex(s => baseName(s.path) === origin.slice(0, origin.lastIndexOf(':')));
      if (file >= 0) left.show(file);
    }
    choose(panes, origin, fromLeft ? right : left);
  });
  return [element('p', {}, 'Click a line to see what became of it, or where it is from. Remarks stand behind the lines that they are about.'), panes];
}

function remarks() {
  const rows = data.remarks.map(r => [r.pass, r.file === undefined ? '' : `${baseName(data.sources[r.file].path)}:${r.line}`, r.text]);
  const find = element('input', {type: 'search', placeholder: 'find in remarks', 'aria-label': 'find in remarks'}), list = table(['pass', 'at', 'says'], rows);
  find.addEventListener('input', () => list.querySelectorAll('tbody tr').forEach(row => { row.hidden = !row.textContent.includes(find.value); }));
  return [find, list];
}

// ---- the page ----

const sections = [['Dataflow', dataflow], ['Kernels', kernels], ['Time', timeline], ['Taxes', taxes], ['Roofline', roofline], ['Source and text', texts], ['Remarks', remarks]];

function about(program, i) {
  const node = program.nodes[i], list = remarksOf(node).map(r => element('li', {}, `${r.pass}: ${r.text}`));
  document.getElementById('about').replaceChildren(element('h3', {}, node.name), element('ul', {}, ...list));
}

function show(program) {
  main.replaceChildren(numbers(program));
  for (const [name, make] of sections) {
    const parts = make(program), id = name.split(' ')[0].toLowerCase();
    if (parts.length) main.append(element('section', {id}, element('h2', {}, name), ...parts));
    document.querySelector(`nav a[href="#${id}"]`).hidden = !parts.length;
  }
  chosen = i => {
    main.querySelectorAll('[data-node]').forEach(e => e.classList.toggle('chosen', Number(e.dataset.node) === i));
    main.querySelectorAll('.arc').forEach(e => e.classList.toggle('chosen', e.dataset.nodes.split(' ').includes(String(i))));
    about(program, i);
  };
}

document.title = `${data.file}: tilec explain`;
document.querySelector('h1').textContent = `${data.file} for ${data.target}, tilec ${data.version}`;
const nav = document.querySelector('nav');
nav.append(...sections.map(([name]) => element('a', {href: '#' + name.split(' ')[0].toLowerCase()}, name)));
if (data.programs.length > 1) {
  const select = element('select', {'aria-label': 'program'}, ...data.programs.map((p, i) => element('option', {value: i}, p.name)));
  select.addEventListener('change', () => show(data.programs[select.value]));
  nav.append(select);
}
if (data.programs.length) show(data.programs[0]);
