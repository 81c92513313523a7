; What Neovim, Helix, Zed and Emacs colour.
(comment) @comment
(string) @string
(number) @number
(constant) @constant.builtin

["import" "dim" "mesh" "record" "format" "kernel" "program"] @keyword
["each" "for" "in" "let" "assert" "if" "else" "repeat" "choose" "by" "on" "of" "as" "fixed" "auto"] @keyword
(merge "merge" @keyword)
(mode) @keyword
["=" "+=" "-=" "*=" "/=" "->" ".." "+" "-" "*" "/" "%" "@" "==" "!=" "<" "<=" ">" ">=" "<<" ">>" "&&" "||" "&" "|" "^" "!" "?"] @operator
["," ";" ":" "."] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket

(kernel name: (identifier) @function)
(program name: (identifier) @function)
(applied name: (identifier) @function)
(call function: (identifier) @function.call)
(record name: (identifier) @type)
(format name: (identifier) @type)
(type element: (identifier) @type)
(held_type kind: (identifier) @type element: (identifier) @type)
(parameter name: (identifier) @variable.parameter)
(bound name: (identifier) @constant)
(axis name: (identifier) @constant)
(range name: (identifier) @variable)
(member field: (identifier) @property)
(arm label: (identifier) @label)
