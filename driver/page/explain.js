// The page: each section is a function of a program that returns elements. What is chosen in one is shown in all.

const data = JSON.parse(document.getElementById('data').textContent);
const main = document.querySelector('main');
let chosen = null; // called with the number of a node

const remarksOf = node => data.remarks.filter(r => r.text.startsWith(`'${node.name}'`));
const sizeText = tile => `${tile.name}: ${tile.size || '*'} of ${tile.of[0]}`;

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

// A picture that tilec drew; none where it has nothing to show. What stands for a node in it can be clicked.
function drawn(program, name) {
  if (!program.pictures[name]) return [];
  const made = element('div', {class: 'scroll'});
  made.innerHTML = program.pictures[name];
  made.querySelectorAll('[data-node]').forEach(e => e.addEventListener('click', () => chosen(Number(e.dataset.node))));
  return [made];
}

const captioned = (words, parts) => parts.length ? [element('p', {}, words), ...parts] : [];

function dataflow(program) {
  return captioned('Nodes in their order; a curve leads from the node that writes a tensor to one that reads it. Bars are predicted times, ' +
    'the words below arguments and results of the program. Click a node.', drawn(program, 'dataflow'));
}

// ---- times ----

function timeline(program) {
  const note = data.tasks > data.shown ? `The first ${data.shown} of ${data.tasks} tasks. ` : '';
  return [...captioned('Predicted, node after node; on the host nodes of different workers may overlap.', drawn(program, 'time')),
    ...captioned(note + 'Measured: each bar is a task, red where it waited.', drawn(program, 'trace'))];
}

function taxes(program) {
  return [...captioned('What being cut into nodes costs, predicted: grey as written, blue as compiled.', drawn(program, 'taxes')),
    ...captioned('What the program would take if one thing alone bounded it:', drawn(program, 'bounds'))];
}

// ---- roofline ----

function roofline(program) {
  const svg = drawn(program, 'roofline');
  return svg.length ? captioned('The roof is what the machine reaches in practice: memory to the left, products of matrices to the right. Dots are kernels at their predicted times.', svg)
    : [element('p', {}, 'No kernel has products: memory bounds all of them.')];
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
