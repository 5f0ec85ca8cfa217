;;; docs/editors/eglot.el with eglot-documents.el: views are buffers that the server keeps up to date.  -*- lexical-binding: t -*-

(configure "eglot.el" "eglot-documents.el")
(defvar source (open-file "matmul.py"))
(defvar view nil)

(defun text (buffer) (with-current-buffer buffer (buffer-substring-no-properties (point-min) (point-max))))

(check "a code action shows the listing"
  (go "acc = multiply")
  (hover)  ; there is nothing to choose from before the kernel is known
  (apply-action "Show SASS of matmul")
  (setq view (wait "the view" (get-buffer "matmul.nvsass")))
  (wait "the listing" (string-match-p "HGMMA" (text view)))
  (expect "SASS of matmul for sm_90" (text view))
  (with-current-buffer view (unless buffer-read-only (error "What is typed into a view would be lost"))))

(check "RET goes from an instruction to the source"
  (pop-to-buffer view)
  (go "matmul.py:27: acc = ct.mma(a, b, acc)")
  (forward-line)
  (call-interactively (key-binding (kbd "RET")))
  (unless (eq (current-buffer) source) (error "In %S" (current-buffer)))
  (expect "^        acc = ct.mma(a, b, acc)$" (line-here))
  ;; On the statement or the call, whichever the compiler noted.
  (unless (looking-at-p "\\(acc = \\)?ct\\.mma(a, b, acc)$") (error "At column %S" (current-column))))

(check "from a source line to its instructions"
  (with-selected-window (get-buffer-window view) (goto-char (point-min)))
  (tile-lsp-instructions)
  (with-selected-window (get-buffer-window view)
    (expect "matmul.py:27: \\|^ +/\\*" (line-here))
    (when (bobp) (error "Point did not move"))))

(check "hover explains an instruction"
  (pop-to-buffer view)
  (go "HGMMA")
  (let (shown)
    (run-hook-wrapped 'eldoc-documentation-functions
                      (lambda (function) (funcall function (lambda (text &rest _) (setq shown text))) nil))
    (expect "matmul.py:[0-9]+" (wait "a hover" shown)))
  (pop-to-buffer source))

(check "a view follows its kernel, and point stays"
  (let ((window (get-buffer-window view)))
    (with-selected-window window (go "// SASS of matmul") (forward-line 1))
    (edit source "tm=128 tn=128 tk=64" "tm=128 tn=128 tk=32")
    (wait "the new listing" (string-match-p "tk=32" (text view)))
    (expect "HGMMA" (text view))
    (with-selected-window window (expect "^// A=f16" (line-here)))))

(check "a fault stands above the last good listing, and goes with it"
  (edit source "ct.mma(a, b, acc)" "ct.mma(a, missing, acc)")
  (wait "the fault" (string-match-p "error: [^\n]*missing" (text view)))
  (expect "HGMMA" (text view))
  (edit source "ct.mma(a, missing, acc)" "ct.mma(a, b, acc)")
  (wait "no fault" (not (string-match-p "error:" (text view)))))

(check "every stage is there"
  (dolist (stage (kernel-stages))
    (let ((uri (plist-get (jsonrpc-request (eglot-current-server) :tile/document
                                           (list :textDocument (eglot--TextDocumentIdentifier) :kernel "matmul" :stage stage)
                                           :timeout 120)
                          :uri)))
      (let ((buffer (tile-lsp--document (eglot-current-server) uri)))
        (wait stage (string-match-p "matmul for sm_90" (text buffer)))))))

(finish source)
