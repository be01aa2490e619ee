import { type Command, Option } from 'commander'
import type { ProvenanceKeyRotation, TokenAlgorithm, TokenKeyRotation } from '../../server/modules/keys/keys-types.ts'
import { describeError, example, exitFailure, type OutputOptions, printResult } from '../output.ts'
import { chosenTenants, operator, type Services, tenantNamed, withServices } from '../services.ts'

interface RotateOptions extends OutputOptions {
  algorithm?: TokenAlgorithm
  only?: 'token' | 'provenance'
  tenant?: string
}

export function addKeysCommand(program: Command): void {
  program
    .command('keys')
    .description('The keys of the Hub')
    .command('rotate')
    .description(
      'Make new keys. The one for access tokens takes over in a minute, and no request fails: it is published at once ' +
        'in /.well-known/jwks.json, and the keys before it verify until the last token they signed has expired. The one ' +
        'with which the records of a tenant are sealed takes over at once, introduced by the one before, whose ' +
        'signatures stay valid for ever: both are in /.well-known/provenance-keys.json.',
    )
    .addOption(
      new Option('--algorithm <name>', 'what tokens are signed with; default: as the key before').choices([
        'ES256',
        'RS256',
      ]),
    )
    .addOption(new Option('--only <kind>', 'one kind of key; default: both').choices(['token', 'provenance']))
    .option('--tenant <slug>', 'only the key with which the records of this tenant are sealed')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('keys rotate --only provenance --tenant acme'))
    .action((options: RotateOptions, command: Command) => {
      const kinds = kindsOf(options, command)
      return withServices(async (services) => {
        // Looked up first, so that an unknown tenant changes nothing.
        const tenants = kinds.provenance ? await chosenTenants(services, options.tenant) : []
        const token = kinds.token ? await services.tokenKeys.rotate(options.algorithm) : undefined
        if (token) await tell(services, token)
        const provenance = kinds.provenance ? await rotateAll(services, tenants) : undefined
        const lines = [...(token ? tokenLines(token) : []), ...(provenance ?? []).map(provenanceLine)]
        printResult(
          options,
          { ...token, ...(provenance && { provenance }) },
          lines.join('\n') || 'There are no tenants.',
        )
      })
    })
}

/** Returns the kinds of keys to rotate. Exits if options contradict each other. */
function kindsOf(
  { algorithm, only, tenant }: RotateOptions,
  command: Command,
): { token: boolean; provenance: boolean } {
  if (tenant !== undefined && only === 'token') {
    command.error('error: token keys are common to all tenants: --tenant is for provenance keys')
  }
  const token = only !== 'provenance' && tenant === undefined
  if (algorithm !== undefined && !token) {
    command.error('error: --algorithm is for token keys: provenance keys are always Ed25519')
  }
  return { token, provenance: only !== 'token' }
}

/** Rotates the keys of all tenants. A failure for one tenant does not stop the others. */
async function rotateAll(services: Services, slugs: readonly string[]): Promise<ProvenanceKeyRotation[]> {
  const rotations: ProvenanceKeyRotation[] = []
  for (const slug of slugs) {
    try {
      rotations.push(await services.provenanceKeys.rotate(await tenantNamed(services, slug), operator))
    } catch (error) {
      process.stderr.write(`hub: the provenance key of ${slug} was not rotated: ${describeError(error)}\n`)
      process.exitCode = exitFailure
    }
  }
  return rotations
}

/** Records the rotation for the service: the key signs tokens of all tenants. */
function tell(
  { serviceEvents }: Services,
  { key_id, algorithm, signs_from, retired }: TokenKeyRotation,
): Promise<void> {
  const before = { key_ids: retired.map((key) => key.key_id) }
  const details = { change: 'token_key', before, after: { key_id, algorithm, signs_from } }
  return serviceEvents.tell({ subject: `key:${key_id}`, details, actor: operator })
}

function tokenLines(rotation: TokenKeyRotation): string[] {
  return [
    `Token key ${rotation.key_id} (${rotation.algorithm}) signs from ${rotation.signs_from} on.`,
    ...rotation.retired.map(
      (key) => `  ${key.key_id} (${key.algorithm}) signs until then, and verifies until ${key.verifies_until}`,
    ),
  ]
}

function provenanceLine({ tenant, key_id, retired_key_id }: ProvenanceKeyRotation): string {
  return `Tenant ${tenant}: provenance key ${key_id} seals from now on; ${retired_key_id} has introduced it, and still verifies.`
}
