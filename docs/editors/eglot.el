;;; tile-lsp in Emacs: eglot 1.9 or newer (built into Emacs since 29, the package eglot before).  -*- lexical-binding: t -*-
;;; Views open as read-only files; eglot-documents.el shows them as buffers of their own.

(require 'eglot)

(add-to-list 'eglot-server-programs
             '((python-mode python-ts-mode cuda-mode) . ("tile-lsp" "--stdio")))
(add-hook 'python-mode-hook #'eglot-ensure)
(add-hook 'python-ts-mode-hook #'eglot-ensure)
(add-hook 'cuda-mode-hook #'eglot-ensure)

;; Settings, here or in a project's .dir-locals.el:
;; (setq-default eglot-workspace-configuration '(:tile-lsp (:targets ["sm_90" "sm_100"])))

;; A view is rewritten when its kernel changes.
(global-auto-revert-mode 1)
