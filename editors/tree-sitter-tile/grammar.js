// The grammar of the tile language for editors. frontend/syntax/gram.y is the compiler's, with the same rules; this one also takes what
// the compiler refuses later. Words that are names too (of, on, by ..) are names wherever a name stands.

const SOFT = ['of', 'on', 'by', 'as', 'const', 'state', 'inout', 'unique', 'ascending', 'fixed'];
const OPERATORS = [['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!='], ['<', '<=', '>', '>='], ['<<', '>>'], ['+', '-'], ['*', '/', '%', '@']];
const UNARY = OPERATORS.length + 2;

const list = rule => seq(rule, repeat(seq(',', rule)));

module.exports = grammar({
  name: 'tile',
  word: $ => $.identifier,
  extras: $ => [/\s/, $.comment],
  // A soft word before a name may be a mode or the name itself; a name before '(' a type with a kind, or a call.
  conflicts: $ => [],

  rules: {
    source_file: $ => repeat($._declaration),

    _declaration: $ => choice($.import, $.dim, $.mesh, $.record, $.format, $.kernel, $.program),
    import: $ => seq('import', field('path', $.string), ';'),
    dim: $ => seq('dim', list($.bound), ';'),
    bound: $ => seq(field('name', $._name), choice('=', '<='), field('value', $._expression)),
    mesh: $ => seq('mesh', list($.axis), ';'),
    axis: $ => seq(field('name', $._name), '=', field('value', $._expression)),
    record: $ => seq('record', field('name', $._name), '{', optional(seq(list($.parameter), optional(','))), '}'),
    kernel: $ => seq('kernel', $._signature, field('body', $.block)),
    program: $ => seq('program', $._signature, field('body', $.block)),
    format: $ => seq('format', field('name', $._name), $.parameters, 'for', $.type, '{', repeat($.applied), '}'),
    applied: $ => seq($._signature, field('body', $.block)),

    _signature: $ => seq(field('name', $._name), field('takes', $.parameters), '->', field('gives', $.parameters)),
    parameters: $ => seq('(', optional(list($.parameter)), ')'),
    parameter: $ => seq(repeat($.mode), field('name', $._name), ':', field('type', $.type),
      optional(choice(seq('in', $._bounds), seq('=', $._expression)))),
    mode: $ => choice('const', 'unique', 'ascending', 'state', 'inout'),

    type: $ => seq($._shaped, optional(seq('as', field('format', $._name), $.arguments))),
    _shaped: $ => seq(field('element', $._name), optional($.subscripts)),
    held_type: $ => seq(field('kind', $._name), '(', field('element', $._name), ')', optional($.subscripts)),

    block: $ => seq('{', repeat($._statement), '}'),
    _statement: $ => choice($.assignment, $.typed, $.let, $.assert, $.effect, $.each, $.for, $.repeat, $.if),
    assignment: $ => seq(list($._postfix), choice('=', '+=', '-=', '*=', '/='), field('value', $._value), ';'),
    typed: $ => seq(field('name', $._name), ':', choice($.type, $.held_type), '=', field('value', $._value), ';'),
    let: $ => seq('let', field('name', $._name), optional(seq(':', choice($.type, $.held_type))), '=', field('value', $._value), ';'),
    assert: $ => seq('assert', $._expression, ';'),
    effect: $ => seq(list($._postfix), ';'),
    each: $ => seq('each', list($.range), optional(seq('on', field('level', $._name))), $.block),
    for: $ => seq('for', $.range, $.block, optional($.merge)),
    merge: $ => seq('merge', '(', list($._name), ')', $.block),
    repeat: $ => seq('repeat', $.range, $.block),
    if: $ => seq('if', $._expression, $.block, optional(seq('else', choice($.block, $.if)))),

    range: $ => seq(field('name', $._name), optional(seq(':', choice($._size, seq('fixed', choice($.number, $.identifier))))),
      optional(seq('of', field('of', $._expression))), optional(seq('in', choice($._expression, $._bounds)))),
    _bounds: $ => choice(seq($._expression, '..', $._expression), seq(alias($._from, $.number), $._expression)),
    _size: $ => choice($._expression, '*', 'auto'),

    _value: $ => choice($._expression, $.choose),
    choose: $ => seq('choose', optional(seq('by', $.string)), '{', repeat1($.arm), '}'),
    arm: $ => seq(field('label', $._label), ':', $._expression, ';'),

    _expression: $ => choice($._postfix, $.unary, $.binary, $.conditional),
    unary: $ => prec(UNARY, seq(choice('-', '!'), $._expression)),
    binary: $ => choice(...OPERATORS.flatMap((words, i) => words.map(word => prec.left(i + 2, seq($._expression, word, $._expression))))),
    conditional: $ => prec.right(1, seq($._expression, '?', $._expression, ':', $._expression)),
    _postfix: $ => choice($._primary, $.index, $.member),
    index: $ => prec(UNARY + 1, seq($._postfix, $.subscripts)),
    member: $ => prec(UNARY + 1, seq($._postfix, '.', field('field', $._label))),
    _primary: $ => choice($.number, $.constant, $._name, $.call, $.parenthesized, $.list),
    call: $ => prec(UNARY + 1, seq(field('function', $._name), $.arguments)),
    arguments: $ => seq('(', optional(list($._expression)), ')'),
    subscripts: $ => seq('[', list($._expression), ']'),
    parenthesized: $ => seq('(', list($._expression), ')'),
    list: $ => seq('[', list($._expression), ']'),

    _name: $ => choice($.identifier, ...SOFT.map(word => alias(word, $.identifier))),
    _label: $ => choice($._name, alias('merge', $.identifier), alias('in', $.identifier)),
    constant: $ => choice('inf', 'true', 'false'),
    identifier: $ => /[A-Za-z_][A-Za-z_0-9]*/,
    // A number may end with its dot: 0..n begins with a word of its own, which would else be 0. and a member.
    _from: $ => token(/[0-9]+\.\./),
    number: $ => token(choice(/[0-9][A-Za-z_0-9]*/, /[0-9]+\.[A-Za-z_0-9]*/, /[0-9]+(\.[0-9]*)?[eE][+-][A-Za-z_0-9]*/)),
    string: $ => /"[^"\n]*"/,
    comment: $ => token(choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
  },
});
