/** The program can't do what it was asked at this moment; the message says what happened and what to do. */
export class AppError extends Error {
  override readonly name = 'AppError';
}
