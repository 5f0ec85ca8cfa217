;;; The views of tile-lsp as read-only buffers that are always up to date. Load after eglot.el; Emacs 28 or newer.  -*- lexical-binding: t -*-
;;; RET goes from a line of a view to the source, M-x tile-lsp-instructions from a source line into the open views.

(require 'cl-lib)
(require 'eglot)

(defclass tile-lsp-server (eglot-lsp-server) ())

(add-to-list 'eglot-server-programs
             '((python-mode python-ts-mode) . (tile-lsp-server "tile-lsp" "--stdio")))

(cl-defmethod eglot-initialization-options ((_server tile-lsp-server))
  '(:documents "content"))

(cl-defmethod eglot-client-capabilities ((_server tile-lsp-server))
  (let ((all (cl-call-next-method)))
    (plist-put all :window (plist-put (plist-get all :window) :showDocument '(:support t)))))

(cl-defmethod eglot-handle-request
  ((server tile-lsp-server) (_method (eql 'window/showDocument)) &key uri &allow-other-keys)
  (if (not (string-prefix-p "tile:" uri))
      (cl-call-next-method)
    (pop-to-buffer (tile-lsp--document server uri))
    '(:success t)))

(cl-defmethod eglot-handle-request
  ((server tile-lsp-server) (_method (eql 'workspace/textDocumentContent/refresh)) &key uri &allow-other-keys)
  (dolist (buffer (tile-lsp--documents))
    (with-current-buffer buffer
      (when (and (eq server tile-lsp--server) (equal uri tile-lsp--uri))
        (revert-buffer))))
  nil)

(defvar-local tile-lsp--server nil)
(defvar-local tile-lsp--uri nil)
(defvar-local tile-lsp--lines [] "For each line the places that it came from, as `tile/document' has them.")

(define-derived-mode tile-lsp-document-mode special-mode "Tile"
  "A view of a kernel, such as its SASS."
  (setq-local truncate-lines t
              font-lock-defaults '((("\\(//\\|;;\\|#\\) .*$" . font-lock-comment-face)) t)
              revert-buffer-function #'tile-lsp--fill)
  (add-hook 'eldoc-documentation-functions #'tile-lsp--eldoc nil t)
  (eldoc-mode 1))
(define-key tile-lsp-document-mode-map (kbd "RET") #'tile-lsp-source)

(defun tile-lsp--documents ()
  (cl-loop for buffer in (buffer-list)
           when (buffer-local-value 'tile-lsp--uri buffer) collect buffer))

(defun tile-lsp--document (server uri)
  "The buffer of the document URI."
  (or (cl-loop for buffer in (tile-lsp--documents)
               when (and (equal uri (buffer-local-value 'tile-lsp--uri buffer))
                         (eq server (buffer-local-value 'tile-lsp--server buffer)))
               return buffer)
      (with-current-buffer (generate-new-buffer (file-name-nondirectory (car (split-string uri "?"))))
        (tile-lsp-document-mode)
        (setq tile-lsp--server server tile-lsp--uri uri)
        (tile-lsp--fill)
        (current-buffer))))

(defun tile-lsp--fill (&rest _)
  (let ((buffer (current-buffer)))
    (jsonrpc-async-request
     tile-lsp--server :tile/document (list :uri tile-lsp--uri)
     :timeout 120
     :error-fn (jsonrpc-lambda (&key message &allow-other-keys) (message "tile-lsp: %s" message))
     :success-fn (jsonrpc-lambda (&key text lines &allow-other-keys)
                   (when (buffer-live-p buffer)
                     (with-current-buffer buffer
                       (tile-lsp--replace text)
                       (setq tile-lsp--lines lines)))))))

(defun tile-lsp--replace (text)
  "Make TEXT the text of this buffer; its windows keep their lines."
  (let ((inhibit-read-only t)
        (places (mapcar (lambda (window)
                          (list window (line-number-at-pos (window-start window)) (line-number-at-pos (window-point window))))
                        (get-buffer-window-list nil nil t))))
    (erase-buffer)
    (insert text)
    (goto-char (point-min))
    (pcase-dolist (`(,window ,first ,line) places)
      (set-window-start window (tile-lsp--line-start first) t)
      (set-window-point window (tile-lsp--line-start line)))))

(defun tile-lsp--line-start (line)
  (save-excursion (goto-char (point-min)) (forward-line (1- line)) (point)))

(defun tile-lsp--eldoc (callback &rest _)
  (jsonrpc-async-request
   tile-lsp--server :textDocument/hover
   (list :textDocument (list :uri tile-lsp--uri)
         :position (list :line (1- (line-number-at-pos)) :character (current-column)))
   :success-fn (lambda (hover)
                 (when hover (funcall callback (plist-get (plist-get hover :contents) :value)))))
  t)

(defun tile-lsp-source ()
  "Go to where this line of a view is written in the source."
  (interactive)
  (let ((links (ignore-errors (aref tile-lsp--lines (1- (line-number-at-pos))))))
    (when (seq-empty-p links)
      (user-error "No line of the source stands behind this one"))
    (let ((place (aref (aref links 0) 0)))
      (find-file-other-window (tile-lsp--path (plist-get place :uri)))
      (let ((start (plist-get (plist-get place :range) :start)))
        (goto-char (point-min))
        (forward-line (plist-get start :line))
        (let ((units (plist-get start :character)))  ; of UTF-16
          (while (> units 0)
            (setq units (- units (if (> (char-after) #xffff) 2 1)))
            (forward-char)))))))

(defun tile-lsp--path (uri)
  (decode-coding-string (url-unhex-string (string-remove-prefix "file://" uri)) 'utf-8))

(defun tile-lsp-instructions ()
  "Show what became of this source line in the views that are open."
  (interactive)
  (let ((path (file-truename buffer-file-name)) (line (1- (line-number-at-pos))))
    (dolist (buffer (tile-lsp--documents))
      (when-let* ((window (get-buffer-window buffer t))
                  (row (cl-position-if
                        (lambda (links)
                          (seq-some (lambda (link)
                                      (let ((place (aref link 0)))
                                        (and (= line (plist-get (plist-get (plist-get place :range) :start) :line))
                                             (file-equal-p path (tile-lsp--path (plist-get place :uri))))))
                                    links))
                        (buffer-local-value 'tile-lsp--lines buffer))))
        (with-selected-window window
          (goto-char (point-min))
          (forward-line row)
          (pulse-momentary-highlight-one-line (point)))))))
