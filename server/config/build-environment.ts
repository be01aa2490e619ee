/** What Node and Vite need to run. `NODE_*` as a whole would take a registry's token along, `NODE_AUTH_TOKEN`. */
const names = ['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'SYSTEMROOT', 'NODE_OPTIONS', 'NODE_PATH', 'NODE_COMPILE_CACHE']

/**
 * The environment of a process that builds the web UI: it runs what the tools of a build bring along, so it gets none
 * of the Hub's settings, where keys and passwords stand, nor other secrets of whoever started it.
 */
export function buildEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(names.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]))
}
