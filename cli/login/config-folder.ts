import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'

const name = 'org-memory-hub'

/**
 * Returns the folder for settings of this person, as the operating system has it: `%APPDATA%`, `~/Library/Application
 * Support`, or by the XDG base directory specification, which ignores relative paths.
 */
export function configFolder(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  home = homedir(),
): string {
  if (platform === 'win32') return win32.join(environment.APPDATA || win32.join(home, 'AppData', 'Roaming'), name)
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', name)
  const given = environment.XDG_CONFIG_HOME ?? ''
  return posix.join(posix.isAbsolute(given) ? given : posix.join(home, '.config'), name)
}
