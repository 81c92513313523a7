;;; tile-mode.el --- Files of the tile language  -*- lexical-binding: t -*-
;; Package-Requires: ((emacs "27.1"))

;;; Commentary:
;; Colours and comments; with eglot, the language server `tilec lsp'.

;;; Code:

(defconst tile-mode-keywords
  `((,(regexp-opt '("dim" "mesh" "kernel" "program" "record" "format" "import" "each" "for" "in" "let" "assert" "if"
                    "else" "merge" "repeat" "choose" "of" "on" "by" "as" "const" "state" "inout" "unique" "ascending"
                    "fixed" "auto")
                  'symbols)
     . font-lock-keyword-face)
    (,(regexp-opt '("inf" "true" "false") 'symbols) . font-lock-constant-face)
    (,(regexp-opt '("f64" "f32" "f16" "bf16" "f8e4m3" "f8e5m2" "f8e4m3fnuz" "i64" "i32" "i16" "i8" "u8" "i4" "t2" "bool")
                  'symbols)
     . font-lock-type-face)
    ("\\_<\\([A-Za-z_][A-Za-z_0-9]*\\)(" 1 font-lock-function-name-face))
  "What is coloured besides comments and texts.")

(defvar tile-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?_ "_" table)
    table)
  "Comments are those of C.")

;;;###autoload
(define-derived-mode tile-mode prog-mode "Tile"
  "A mode for files of the tile language."
  (setq-local font-lock-defaults '(tile-mode-keywords))
  (setq-local comment-start "// " comment-start-skip "\\(//+\\|/\\*+\\)\\s *")
  (setq-local indent-tabs-mode nil tab-width 2))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.tile\\'" . tile-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(tile-mode . ("tilec" "lsp"))))

(provide 'tile-mode)
;;; tile-mode.el ends here
