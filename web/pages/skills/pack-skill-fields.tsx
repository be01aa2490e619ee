import { ActionIcon, Autocomplete, Button, Group, Paper, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useSkills } from '../../components/full-lists.ts'
import { FieldsetError } from '../../ui/fieldset-error.tsx'
import type { PackSkill } from './packs.ts'

interface PackSkillFieldsProps {
  form: UseFormReturnType<{ cowork_id: string; name: string; archetype_ids: string[]; skills: PackSkill[] }>
  /** False in Mode C, which stores no descriptions and manifests. */
  withContent: boolean
}

/** Edits the skills of a pack: registered ones by their ids, or new ones with their definition. */
export function PackSkillFields({ form, withContent }: PackSkillFieldsProps) {
  const skills = useSkills()
  const rows = form.values.skills

  /** Fills in the name and newest version of a registered skill. */
  function choose(index: number, skillId: string) {
    const known = skills.data?.find(({ skill_id }) => skill_id === skillId)
    const version = known?.versions.at(-1)
    form.setFieldValue(`skills.${index}.skill_id`, skillId)
    if (!known || !version) return
    form.setFieldValue(`skills.${index}.name`, known.name)
    form.setFieldValue(`skills.${index}.skill_version`, version.skill_version)
  }

  return (
    <Stack gap="sm">
      {rows.map((row, index) => {
        const isRegistered = skills.data?.some(
          ({ skill_id, versions }) =>
            skill_id === row.skill_id && versions.some(({ skill_version }) => skill_version === row.skill_version),
        )
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id before one is typed
          <Paper withBorder p="sm" key={index} role="group" aria-label={`Skill ${index + 1}`}>
            <Stack gap="xs">
              <Group gap="xs" align="flex-start" wrap="nowrap">
                <Autocomplete
                  label="Skill id"
                  placeholder="ticket-triage"
                  data={skills.data?.map(({ skill_id }) => skill_id) ?? []}
                  limit={50}
                  flex={2}
                  miw={0}
                  {...form.getInputProps(`skills.${index}.skill_id`)}
                  onChange={(value) => choose(index, value)}
                />
                <TextInput
                  label="Version"
                  placeholder="1.0.0"
                  flex={1}
                  miw={0}
                  {...form.getInputProps(`skills.${index}.skill_version`)}
                />
                <ActionIcon
                  mt={25}
                  size={36}
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove skill ${row.skill_id || index + 1}`}
                  onClick={() => form.removeListItem('skills', index)}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Group>
              <TextInput
                label="Skill name"
                placeholder="Triage a ticket"
                {...form.getInputProps(`skills.${index}.name`)}
              />
              {isRegistered ? (
                <Text size="sm" c="dimmed">
                  This version is registered and cannot change.
                </Text>
              ) : (
                withContent && (
                  <Textarea
                    label="Instructions (SKILL.md)"
                    autosize
                    minRows={3}
                    maxRows={12}
                    value={skillMd(row)}
                    onChange={(event) => {
                      const skill_md = event.currentTarget.value
                      form.setFieldValue(`skills.${index}.manifest`, { ...row.manifest, skill_md })
                    }}
                    error={form.errors[`skills.${index}.manifest`]}
                  />
                )
              )}
            </Stack>
          </Paper>
        )
      })}
      <FieldsetError>{form.errors.skills}</FieldsetError>
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem('skills', { skill_id: '', skill_version: '1.0.0', name: '' })}
        >
          Add skill
        </Button>
      </Group>
    </Stack>
  )
}

function skillMd({ manifest }: PackSkill): string {
  const text = (manifest as { skill_md?: unknown } | undefined)?.skill_md
  return typeof text === 'string' ? text : ''
}
