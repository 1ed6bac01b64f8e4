/** The scripted model server as a process beside the gateway. */
import { startModelServer } from '../model-server/model-server.ts';
import type { ModelAddresses, ModelRequest, ModelReport } from './scripted-model.ts';
import { serveRun } from './neighbour.ts';

const starting = startModelServer();

serveRun(async (message) => {
  const server = await starting;
  const request = message as ModelRequest;
  switch (request.kind) {
    case 'addresses':
      return {
        chat_completions: server.baseUrl('chat_completions'),
        responses: server.baseUrl('responses'),
        anthropic_messages: server.baseUrl('anthropic_messages'),
      } satisfies ModelAddresses;
    case 'fault':
      return server.inject(request.order);
    case 'report': {
      const requests = server.requests();
      const rejected = requests.flatMap(({ protocol, problem }) =>
        problem === null ? [] : [`${protocol}: ${problem}`],
      );
      return {
        requests: requests.length,
        faults: requests.filter(({ fault }) => fault !== null).length,
        rejected,
      } satisfies ModelReport;
    }
  }
});
