import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { secretVariables } from '../../server/config/secret-files.ts'
import { type Config, loadConfig } from '../../server/config.ts'

/** Values of secrets that pass the checks of the settings. */
export const exampleSecrets: Readonly<Record<string, string>> = {
  'master-key': Buffer.alloc(32, 7).toString('base64'),
  'operator-token': 'o'.repeat(64),
}

/** Returns the variables that the configuration reads, those of secret files included. */
export function knownVariables(): Set<string> {
  const read = new Set<string>()
  const seen = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void read.add(String(name)) })
  loadConfig(seen)
  return read
}

/**
 * Loads the configuration of an environment whose secrets are files.
 *
 * @param secrets the content of each file by its name; the folder in the environment does not matter
 * @throws ConfigError as the service does
 */
export function loadWithSecrets(
  environment: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): Config {
  const folder = mkdtempSync(join(tmpdir(), 'hub-secrets-'))
  try {
    const files = secretVariables.map((name) => `${name}_FILE`)
    const moved = Object.entries(environment).map(([name, value]) => {
      if (!files.includes(name)) return [name, value]
      const file = join(folder, basename(value))
      const content = secrets[basename(value)]
      if (content !== undefined) writeFileSync(file, content)
      return [name, file]
    })
    return loadConfig(Object.fromEntries(moved))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
