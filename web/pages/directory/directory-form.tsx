import { Group, PasswordInput, Radio, Stack, TextInput } from '@mantine/core'
import * as v from 'valibot'
import { type ApiResponse, hub } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { GroupMapEditor, type GroupMapping } from './group-map-editor.tsx'

export const scimPath = '/api/v1/identity/scim/configure'
export type Scim = ApiResponse<'getScim'>

const mappings = v.pipe(
  v.array(v.object({ group: v.string(), archetype_id: v.string() })),
  v.check(
    (rows) => rows.every((row) => (row.group.trim() === '') === (row.archetype_id === '')),
    'Each row needs a group and an archetype.',
  ),
)

const schemaFor = (scim: Scim | undefined) => {
  const isPull = (mode: string) => mode === 'pull'
  return v.pipe(
    v.object({ mode: v.string(), base_url: v.string(), bearer_token: v.string(), group_archetype_map: mappings }),
    v.forward(
      v.partialCheck(
        [['mode'], ['base_url']],
        ({ mode, base_url }) => !isPull(mode) || URL.canParse(base_url.trim()),
        'Enter the address of the directory, such as https://directory.example.com/scim/v2.',
      ),
      ['base_url'],
    ),
    v.forward(
      v.partialCheck(
        [['mode'], ['base_url'], ['bearer_token']],
        ({ mode, base_url, bearer_token }) =>
          !isPull(mode) || bearer_token !== '' || (scim?.mode === 'pull' && scim.base_url === base_url.trim()),
        'Enter the token that the Hub shows to the directory.',
      ),
      ['bearer_token'],
    ),
  )
}

interface DirectoryFormProps {
  scim: Scim | undefined
  /** Called with the secrets, which the response contains only once. */
  onSaved(scim: Scim): void
}

/** Edits the connection between directory and Hub, and the meaning of the directory's groups. */
export function DirectoryForm({ scim, onSaved }: DirectoryFormProps) {
  const form = useMutationForm({
    initialValues: {
      mode: scim?.mode ?? 'push',
      base_url: scim?.base_url ?? '',
      bearer_token: '',
      group_archetype_map: scim?.group_archetype_map ?? ([] as GroupMapping[]),
    },
    schema: schemaFor(scim),
    fieldOf: (member) => (member.startsWith('group_archetype_map') ? 'group_archetype_map' : undefined),
    send: ({ mode, base_url, bearer_token, group_archetype_map }) =>
      hub.POST(scimPath, {
        body: {
          mode,
          ...(mode === 'pull' && { base_url: base_url.trim(), ...(bearer_token && { bearer_token }) }),
          group_archetype_map: group_archetype_map
            .filter(({ group }) => group.trim() !== '')
            .map((each) => ({ ...each, group: each.group.trim() })),
        },
      }),
    done: 'The directory is configured.',
    refresh: 'everything',
    onDone: (saved, { setFieldValue }) => {
      setFieldValue('bearer_token', '')
      onSaved(saved)
    },
  })
  const { mode, base_url } = form.values
  const keepsToken = scim?.mode === 'pull' && scim.base_url === base_url.trim()
  return (
    <MutationForm form={form} submit={scim ? 'Save' : 'Connect'} failed="The directory was not saved">
      <Radio.Group label="Sync mode" {...form.getInputProps('mode')}>
        <Stack gap="xs" mt={4}>
          <Radio
            value="push"
            label="The directory pushes its changes"
            description="Entra ID, Okta and most others do it by themselves. They get an address and a token of the Hub."
          />
          <Radio
            value="pull"
            label="The Hub pulls"
            description="It reads the directory every half hour, with a token of the directory."
          />
        </Stack>
      </Radio.Group>
      {mode === 'pull' && (
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput
            label="Address of the directory"
            required
            type="url"
            miw="14rem"
            placeholder="https://directory.example.com/scim/v2"
            {...form.getInputProps('base_url')}
          />
          <PasswordInput
            label="Bearer token"
            required={!keepsToken}
            autoComplete="off"
            miw="14rem"
            description={keepsToken ? 'Saved. Enter one only to replace it.' : undefined}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            {...form.getInputProps('bearer_token')}
          />
        </Group>
      )}
      {scim && scim.mode !== mode && (
        <p style={{ margin: 0 }}>
          {mode === 'push'
            ? 'The Hub stops reading the directory, and you get a token for it. People and groups stay.'
            : 'The token of the directory ends, and what it sends is refused. People and groups stay.'}
        </p>
      )}
      <GroupMapEditor {...form.getInputProps('group_archetype_map')} value={form.values.group_archetype_map} />
    </MutationForm>
  )
}
