" Syntax of the tile language; the words are those of frontend/syntax/lex.l.
if exists("b:current_syntax")
  finish
endif

syntax keyword tileDeclaration dim mesh kernel program record format import
syntax keyword tileStatement each for in let assert if else merge repeat choose
syntax keyword tileWord of on by as const state inout unique ascending fixed auto
syntax keyword tileConstant inf true false
syntax keyword tileType f64 f32 f16 bf16 f8e4m3 f8e5m2 f8e4m3fnuz i64 i32 i16 i8 u8 i4 t2 bool
syntax match tileNumber "\<\d\+\(\.\d\+\)\?\([eE][+-]\?\d\+\)\?\>\|\<0[xX]\x\+\>"
syntax match tileCall "\<\h\w*\ze("
syntax region tileText start=+"+ end=+"+ oneline
syntax match tileComment "//.*$"
syntax region tileComment start="/\*" end="\*/"

highlight default link tileDeclaration Keyword
highlight default link tileStatement Statement
highlight default link tileWord StorageClass
highlight default link tileConstant Constant
highlight default link tileType Type
highlight default link tileNumber Number
highlight default link tileCall Function
highlight default link tileText String
highlight default link tileComment Comment

setlocal commentstring=//\ %s shiftwidth=2 expandtab
let b:current_syntax = "tile"
