import type { Config } from '../../../server/config.ts'
import { readInstanceFile } from '../../../server/embedded-postgres/data-directory.ts'
import { addressOf } from '../../services.ts'
import type { ExaminedDatabase } from '../examined-database.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

const check = 'service'
const patienceMs = 5_000

/** Says whether a Hub runs on the database, and asks one whose address is known for its health. */
export async function checkService(config: Config, { hubRuns, startedHere }: ExaminedDatabase): Promise<Finding> {
  if (!hubRuns) {
    const how = startedHere ? ' The embedded database runs for these checks only.' : ''
    return ok(check, `The Hub is stopped.${how}`)
  }
  if (!config.baseUrlConfigured && readInstanceFile(config.dataDir) === undefined) {
    return ok(check, 'A Hub runs on this database.')
  }
  const address = addressOf(config)
  try {
    const response = await fetch(`${address}/v1/health`, {
      signal: AbortSignal.timeout(patienceMs),
      redirect: 'manual',
    })
    const health = (await response.json()) as { degraded?: boolean }
    if (response.status !== 200) {
      return problem(check, `${address}/v1/health answers ${response.status}.`, 'The log of the Hub says why.')
    }
    if (health.degraded) return problem(check, `${address} is degraded.`, 'Run: hub log audit')
    return ok(check, `The Hub runs at ${address}.`)
  } catch (error) {
    const detail = `A Hub uses the database, but ${address}/v1/health does not answer: ${(error as Error).message}.`
    return warning(check, detail, 'Check the proxy and HUB_BASE_URL, or the log of the Hub.')
  }
}
