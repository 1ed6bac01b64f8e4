import { useEffect, useRef } from 'preact/hooks';

export interface DeleteDialogProps {
  readonly title: string;
  readonly onDelete: () => void;
  readonly onClose: () => void;
}

export function DeleteDialog({ title, onDelete, onClose }: DeleteDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="delete-title" onClose={onClose}>
      <h2 id="delete-title">Delete this session?</h2>
      <p>“{title}” and everything said in it will be gone for good. Files that were written in the workspace stay.</p>
      <div class="dialog-buttons">
        <button type="button" autoFocus onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            onDelete();
            dialog.current?.close();
          }}
        >
          Delete
        </button>
      </div>
    </dialog>
  );
}
