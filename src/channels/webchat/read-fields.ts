/** The body of a request as a JSON object, with nothing known of its fields. */
import { readJson, type HttpRequest } from '../../http/http-message.ts';
import { ApiError } from '../../protocol/api.ts';

export async function readFields(request: HttpRequest, bytesMax: number): Promise<Record<string, unknown>> {
  const body = await readJson(request, bytesMax);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError('bad-request', 'The body must be a JSON object.');
  }
  return body as Record<string, unknown>;
}
