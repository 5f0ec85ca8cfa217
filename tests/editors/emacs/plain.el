;;; docs/editors/eglot.el alone: views are files.  -*- lexical-binding: t -*-

(configure "eglot.el")
(defvar source (open-file "matmul.py"))
(defvar view nil)

(check "hover shows the type"
  (go "acc = multiply")
  (expect "acc: Tile\\[float32,(128,128)\\]" (hover)))

(check "wide characters before a name"
  (open-file "wide.py")
  (go "acc = multiply")
  (expect "acc: Tile\\[float32,(128,128)\\]" (hover))
  (switch-to-buffer source))

(check "diagnostics come with a fault and go with it"
  (let ((before (diagnostics source)))
    (when before (error "%S" before)))
  (edit source "ct.mma(a, b, acc)" "ct.mma(a, missing, acc)")
  (let ((found (car (wait "a diagnostic" (diagnostics source)))))
    (expect "missing" (flymake-diagnostic-text found))
    (expect "^missing$" (buffer-substring-no-properties (flymake-diagnostic-beg found) (flymake-diagnostic-end found))))
  (edit source "ct.mma(a, missing, acc)" "ct.mma(a, b, acc)")
  (wait "no diagnostics" (not (diagnostics source))))

(defun shown ()
  "Where the newest view was written to, as the server told."
  (with-current-buffer "*Messages*"
    (goto-char (point-max))
    (when (re-search-backward ": \\(/.*/\\(matmul\\.[a-z]+\\)\\)$" nil t)
      (match-string-no-properties 1))))

(check "a code action shows each stage"
  (go "acc = multiply")
  (let ((stages (kernel-stages)) (titles (apply-action "Show SASS of matmul")))
    (expect "/matmul\\.nvsass$" (wait "the view's path" (shown)))
    (let ((views (cl-remove-if-not (lambda (title) (string-prefix-p "Show " title)) titles)))
      (unless (= (length stages) (length views)) (error "%S for %S" views stages))
      (dolist (title views)
        (with-current-buffer "*Messages*" (let ((inhibit-read-only t)) (erase-buffer)))
        (apply-action title)
        (let ((path (wait (concat "the path for " title) (shown))))
          (with-temp-buffer
            (insert-file-contents path)
            (expect "matmul for sm_90" (buffer-string))
            (when (string-match-p "error:" (buffer-string)) (error "%s: %s" title (buffer-string))))
          (when (string-suffix-p ".nvsass" path)
            (setq view (find-file-noselect path))))))))

(check "an open view follows its kernel"
  (with-current-buffer view
    (expect "tk=64" (buffer-string))
    (unless buffer-read-only (error "What is typed into a view would be lost")))
  (edit source "tm=128 tn=128 tk=64" "tm=128 tn=128 tk=32")
  (with-current-buffer view
    (wait "the new listing" (auto-revert-buffers) (string-match-p "tk=32" (buffer-string)))
    (expect "HGMMA" (buffer-string))))

(finish source)
