import { type Command, Option } from 'commander'
import type { TokenAlgorithm } from '../../server/modules/keys/keys-types.ts'
import { type OutputOptions, printResult } from '../output.ts'
import { withServices } from '../services.ts'

interface RotateOptions extends OutputOptions {
  algorithm?: TokenAlgorithm
}

export function addKeysCommand(program: Command): void {
  program
    .command('keys')
    .description('The keys of the Hub')
    .command('rotate')
    .description(
      'Make a new key for access tokens, which takes over in a minute. No request fails: it is published at once in ' +
        '/.well-known/jwks.json, and the keys before it verify until the last token they signed has expired.',
    )
    .addOption(
      new Option('--algorithm <name>', 'what it signs with; default: as the key before').choices(['ES256', 'RS256']),
    )
    .option('--json', 'print one JSON object')
    .action((options: RotateOptions) =>
      withServices(async ({ tokenKeys }) => {
        const rotation = await tokenKeys.rotate(options.algorithm)
        const lines = rotation.retired.map(
          (key) => `  ${key.key_id} (${key.algorithm}) signs until then, and verifies until ${key.verifies_until}`,
        )
        const text = `Token key ${rotation.key_id} (${rotation.algorithm}) signs from ${rotation.signs_from} on.`
        printResult(options, rotation, [text, ...lines].join('\n'))
      }),
    )
}
