import { useEffect, useState } from 'preact/hooks';

import { ApiError, type StatusReport } from '../../src/protocol/api.ts';
import type { Api } from './api.ts';

/** Asked for at the start and whenever the gateway is there again: it may have been started anew, with another model. */
export function useStatus(api: Api, isReachable: boolean, onError: (error: unknown) => void): StatusReport | null {
  const [status, setStatus] = useState<StatusReport | null>(null);
  useEffect(() => {
    if (!isReachable) return;
    api.status().then(setStatus, (error: unknown) => {
      // That the gateway is away is said by others, and it is asked again when it is back.
      if (!(error instanceof ApiError && error.reason === 'unreachable')) onError(error);
    });
  }, [api, isReachable, onError]);
  return status;
}
