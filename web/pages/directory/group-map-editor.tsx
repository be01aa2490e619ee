import {
  ActionIcon,
  Autocomplete,
  Button,
  Fieldset,
  Flex,
  Group,
  type OptionsFilter,
  Select,
  Stack,
  Text,
} from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { api } from '../../api/api-client.ts'
import { useArchetypes } from '../../components/full-lists.ts'
import { LinkText } from '../../components/link-text.tsx'
import { FieldsetError } from '../../ui/fieldset-error.tsx'

export interface GroupMapping {
  group: string
  archetype_id: string
}

interface GroupMapEditorProps {
  value: readonly GroupMapping[]
  onChange(next: GroupMapping[]): void
  error?: string | undefined
}

/** Fields show only the name, but the user may search by id, too. */
const byNameOrId: OptionsFilter = ({ options, search, limit }) =>
  options
    .filter(
      (option) =>
        'value' in option && `${option.label} ${option.value}`.toLowerCase().includes(search.trim().toLowerCase()),
    )
    .slice(0, limit)

/** Maps groups of the directory to archetypes: one row each, with suggestions of existing ones. */
export function GroupMapEditor({ value, onChange, error }: GroupMapEditorProps) {
  const groups = api.useQuery('get', '/api/v1/roster/groups', { params: { query: { limit: 1000 } } })
  const archetypes = useArchetypes()
  const names = [...new Set(groups.data?.items.map(({ display_name }) => display_name))]
  const unmapped = groups.data?.items.filter(({ archetype_ids }) => archetype_ids.length === 0) ?? []
  const known = archetypes.data ?? []
  const change = (at: number, next: Partial<GroupMapping>) =>
    onChange(value.map((each, index) => (index === at ? { ...each, ...next } : each)))

  return (
    <Fieldset legend="Groups and archetypes">
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          Members of a group get its archetypes. A group is named as the directory shows it, or by its id there; groups
          inside groups are not followed.
        </Text>
        {archetypes.data?.length === 0 && (
          <Text size="sm">
            There are no archetypes yet.{' '}
            <LinkText to="/skills/roster" search={{ tab: 'archetypes' }} inherit underline="always">
              Add archetypes
            </LinkText>{' '}
            first, or connect the directory now and map its groups later.
          </Text>
        )}
        {value.map((mapping, index) => {
          const choices = known.map(({ archetype_id, name }) => ({ value: archetype_id, label: name ?? archetype_id }))
          const isUnknown =
            mapping.archetype_id !== '' && !known.some((each) => each.archetype_id === mapping.archetype_id)
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name before one is typed
            <Group key={index} gap="xs" align="flex-start" wrap="nowrap">
              <Flex direction={{ base: 'column', sm: 'row' }} gap={{ base: 4, sm: 'xs' }} flex={1} miw={0}>
                <Autocomplete
                  aria-label={`Group ${index + 1}`}
                  placeholder="Group"
                  data={names}
                  limit={50}
                  maxLength={256}
                  flex={{ base: 'none', sm: 1 }}
                  miw={0}
                  value={mapping.group}
                  onChange={(group) => change(index, { group })}
                />
                <Select
                  aria-label={`Archetype of group ${index + 1}`}
                  placeholder="Archetype"
                  searchable
                  limit={100}
                  filter={byNameOrId}
                  renderOption={({ option }) => (
                    <div>
                      {option.label}
                      {option.label !== option.value && (
                        <Text size="xs" c="dimmed">
                          {option.value}
                        </Text>
                      )}
                    </div>
                  )}
                  flex={{ base: 'none', sm: 1.3 }}
                  miw={0}
                  nothingFoundMessage={
                    known.length === 0
                      ? 'There are no archetypes yet: add them in the roster.'
                      : 'No archetype of that name'
                  }
                  data={
                    isUnknown
                      ? [
                          ...choices,
                          { value: mapping.archetype_id, label: `${mapping.archetype_id} (not in the bundle)` },
                        ]
                      : choices
                  }
                  value={mapping.archetype_id || null}
                  onChange={(archetype_id) => change(index, { archetype_id: archetype_id ?? '' })}
                />
              </Flex>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                aria-label={`Remove row ${index + 1}`}
                onClick={() => onChange(value.filter((_, at) => at !== index))}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
          )
        })}
        <FieldsetError>{error}</FieldsetError>
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => onChange([...value, { group: '', archetype_id: '' }])}
          >
            Add group
          </Button>
          {unmapped.slice(0, 3).map(({ group_id, display_name }) =>
            value.some(({ group }) => group === display_name) ? null : (
              <Button
                key={group_id}
                size="xs"
                variant="subtle"
                onClick={() => onChange([...value, { group: display_name, archetype_id: '' }])}
              >
                {`Map ${display_name}`}
              </Button>
            ),
          )}
        </Group>
      </Stack>
    </Fieldset>
  )
}
