import { stat } from 'node:fs/promises'
import { secretVariables } from '../../../server/config/secret-files.ts'
import { type Config, loadConfig } from '../../../server/config.ts'
import { ConfigError } from '../../../server/startup-error.ts'
import { startupWarnings } from '../../../server/startup-warnings.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

const check = 'configuration'
const readableByOthers = 0o004

/** Reads the configuration. Each invalid setting is a problem of its own, and then there is no configuration. */
export async function checkConfiguration(
  env: NodeJS.ProcessEnv,
): Promise<{ config: Config | undefined; findings: Finding[] }> {
  try {
    const config = loadConfig(env)
    const warnings = startupWarnings(config).map(({ detail, action }) => warning(check, detail, action))
    const findings = [...warnings, ...(await openSecretFiles(env))]
    if (findings.length > 0) return { config, findings }
    const { environment, role, workers } = config
    return { config, findings: [ok(check, `${environment}, role ${role}, workers ${workers}.`)] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const findings = error.problems.map((each) => problem(check, `${each.variable} ${each.problem}`, each.fix))
    return { config: undefined, findings }
  }
}

/** Warns about secret files that every user of the machine can read. */
async function openSecretFiles(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const variable of secretVariables.map((name) => `${name}_FILE`)) {
    const file = env[variable]
    if (!file || variable.startsWith('HUB_CONNECTOR_')) continue
    const found = await stat(file).catch(() => undefined)
    if (found && (found.mode & readableByOthers) !== 0) {
      findings.push(warning(check, `${variable} names ${file}, which every user can read.`, `Run: chmod o-r ${file}`))
    }
  }
  return findings
}
