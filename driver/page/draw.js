'use strict';
// Elements of HTML, numbers as people write them, tables.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// 1234567 becomes 1.23 M; under a thousand three digits.
function short(n) {
  const steps = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  const [by, unit] = steps.find(([least]) => Math.abs(n) >= least) || [1, ''];
  return Number((n / by).toPrecision(3)) + (unit && ' ' + unit);
}

const time = us => us >= 1e6 ? short(us / 1e6) + ' s' : us >= 1e3 ? Number((us / 1e3).toPrecision(3)) + ' ms' : Number(us.toPrecision(3)) + ' us';
const share = x => Math.round(100 * x) + ' %';

// Cells are words, or {number: words}, which stand to the right.
function table(heads, rows) {
  const isNumber = cell => cell.number !== undefined, number = i => rows.some(row => isNumber(row[i]));
  const made = (kind, cell, right) => element(kind, right ? {class: 'n'} : {}, isNumber(cell) ? cell.number : cell);
  const line = (kind, cells) => element('tr', {}, ...cells.map((cell, i) => made(kind, cell, number(i))));
  return element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, line('th', heads)), element('tbody', {}, ...rows.map(row => line('td', row)))));
}
