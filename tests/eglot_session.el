;;; eglot_session.el --- Drives eglot in batch  -*- lexical-binding: t -*-
;; TCLINT_TEST holds, one a line: the server's python, the file, the file for the answers.
(require 'json)
(require 'eglot)
(require 'flymake)

(defvar told nil)
(pcase-let ((`(,python ,path ,out) (split-string (getenv "TCLINT_TEST") "\n")))
  (defun tell (name value) (push (cons name value) told))
  (defun wait (what condition)
    (let ((deadline (+ (float-time) 60)))
      (while (not (funcall condition))
        (when (> (float-time) deadline) (error "waited in vain for %s" what))
        (accept-process-output nil 0.05))))
  (defun findings ()
    (flymake-start)
    (mapcar (lambda (d) (buffer-substring-no-properties
                         (flymake-diagnostic-beg d) (flymake-diagnostic-end d)))
            (flymake-diagnostics)))
  (condition-case problem
      (progn
        (setq eglot-confirm-server-initiated-edits nil
              eglot-autoshutdown t
              eglot-sync-connect 60
              python-indent-guess-indent-offset nil)
        (add-to-list 'eglot-server-programs `(python-mode . (,python "-m" "tclint" "server")))
        (find-file path)
        (python-mode)
        (apply #'eglot (append (eglot--guess-contact) '(nil)))
        (wait "diagnostics" #'findings)
        (tell 'opened (vconcat (findings)))
        (goto-char (point-min))
        (search-forward "print(s)")
        (backward-char 3)
        (let* ((actions (eglot-code-actions (point) (point) "quickfix" nil))
               (fix (seq-find (lambda (a) (eq t (plist-get a :isPreferred))) actions))
               (done (jsonrpc-request (eglot-current-server) :codeAction/resolve fix)))
          (eglot--apply-workspace-edit (plist-get done :edit)))
        (tell 'fixed (buffer-string))
        (erase-buffer)
        (insert "x = 1\n")
        (wait "clear" (lambda () (null (findings))))
        (tell 'cleared t))
    (error (tell 'problem (error-message-string problem))))
  (with-temp-file out (insert (json-encode told)))
  (set-buffer-modified-p nil)
  (kill-emacs 0))
