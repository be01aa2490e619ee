import traceUrl from '../../../../demo/data/azure-llm-inference-conv-2023.csv?url'
import type { DemoProgress } from '../../../../demo/demo-api.ts'
import { loadDemo } from '../../../../demo/load-demo.ts'
import { HubUnreachable, problemOf } from '../../../api/problem.ts'
import { createDemoApi } from './demo-api.ts'

/**
 * Loads the demo data into a tenant. Continues an interrupted load.
 *
 * @throws HubProblem if the Hub refuses a call, HubUnreachable if it does not respond, Error if the tenant does not fit
 */
export async function runDemo(tenant: string, onProgress: (progress: DemoProgress) => void): Promise<void> {
  await loadDemo(createDemoApi(tenant), { traceCsv: await readTrace(), onProgress })
}

async function readTrace(): Promise<string> {
  const response = await fetch(traceUrl).catch((error: unknown) => {
    throw new HubUnreachable(error)
  })
  if (!response.ok) throw await problemOf(response)
  return response.text()
}
