;;; What the scripts share. A check that fails does not keep the next ones from running.  -*- lexical-binding: t -*-

(require 'package)
(add-to-list 'package-directory-list (getenv "PACKAGES"))
(package-initialize)
(require 'eglot)
(require 'python)
(require 'pulse)

(setq eglot-sync-connect 120
      eglot-connect-timeout 120
      jsonrpc-default-request-timeout 120
      python-indent-guess-indent-offset nil
      auto-revert-use-notify nil  ; without a main loop nobody reads the notifications
      create-lockfiles nil
      last-nonmenu-event t)  ; as a key would leave it: choices are read, not popped up as a menu

(defun checks-report (name problem)
  (write-region (concat (json-encode `((check . ,name) ,@(when problem `((problem . ,problem))))) "\n")
                nil (getenv "CHECKS") t 'silent))

(defmacro check (name &rest body)
  (declare (indent 1))
  `(condition-case problem
       (progn ,@body (checks-report ,name nil))
     ((error quit) (checks-report ,name (format "%S" problem)))))

(defmacro wait (what &rest condition)
  "Wait until CONDITION gives a value, and return it."
  (declare (indent 1))
  `(let ((end (+ (float-time) 120)) value)
     (while (and (not (setq value (progn ,@condition))) (< (float-time) end))
       (accept-process-output nil 0.02))
     (or value (error "Waited in vain for %s" ,what))))

(defun expect (pattern text)
  (unless (string-match-p pattern (or text ""))
    (error "No %S in:\n%s" pattern text)))

(defun configure (&rest names)
  "Load files of docs/editors as they are, after the settings that a user would make."
  (setq-default eglot-workspace-configuration '(:tile-lsp (:targets ["sm_90"])))
  (dolist (name names)
    (load-file (expand-file-name name (getenv "DOCS")))))

(defun open-file (name)
  "Open a file of the workspace; returns its buffer once the server manages it."
  (let ((buffer (find-file (expand-file-name name (getenv "WORKSPACE")))))
    (run-hooks 'post-command-hook)  ; as the main loop would: `eglot-ensure' waits for it
    (wait "the server" (eglot-managed-p))
    buffer))

(defun go (text)
  "Put point on the first occurrence of TEXT."
  (goto-char (point-min))
  (search-forward text)
  (goto-char (match-beginning 0)))

(defun line-here ()
  (buffer-substring-no-properties (line-beginning-position) (line-end-position)))

(defun edit (buffer old new)
  "Replace the first occurrence of OLD, and tell the server as the idle timer would."
  (with-current-buffer buffer
    (save-excursion
      (go old)
      (delete-char (length old))
      (insert new))
    (eglot--signal-textDocument/didChange)))

(defun hover ()
  "What eldoc gets to show at point, once there is anything."
  (let (shown)
    (wait "a hover"
      (eglot-hover-eldoc-function (lambda (text &rest _) (setq shown text)))
      (accept-process-output nil 0.1)
      shown)
    (substring-no-properties shown)))

(defun diagnostics (buffer)
  (with-current-buffer buffer
    (flymake-start)
    (flymake-diagnostics)))

(defun apply-action (title)
  "Choose a code action from the menu. Returns what there was to choose from."
  (let* (titles
         (completing-read-function
          (lambda (_prompt choices &rest _)
            (setq titles (all-completions "" choices))
            title)))
    (call-interactively #'eglot-code-actions)
    titles))

(defun kernel-stages ()
  (let ((kernels (plist-get (jsonrpc-request (eglot-current-server) :tile/jobs (make-hash-table) :timeout 120) :kernels)))
    (append (plist-get (cl-find "matmul" kernels :key (lambda (kernel) (plist-get kernel :name)) :test #'equal) :stages)
            nil)))

(defun finish (source)
  "Stop the server in the way that eglot does."
  (with-current-buffer source
    (eglot-shutdown (eglot-current-server) nil 120))
  (checks-report "end" nil))
