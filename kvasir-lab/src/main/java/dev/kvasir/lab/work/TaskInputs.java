package dev.kvasir.lab.work;

import dev.kvasir.lab.work.TaskInput.Role;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * All files that the tasks of a plan need.
 *
 * @param all the model's files unless it is the bundled model, a profile, and further files
 * @param context context length of the model in tokens; 0 for its maximum
 */
public record TaskInputs(ArrayList<TaskInput> all, int context) implements Serializable {
  /** Returns inputs with the bundled model, its own profile and no files. */
  public static TaskInputs bundled() {
    return new TaskInputs(new ArrayList<>(), 0);
  }

  public TaskInputs with(TaskInput further) {
    ArrayList<TaskInput> more = new ArrayList<>(all);
    more.add(further);
    return new TaskInputs(more, context);
  }

  public TaskInputs withContext(int tokens) {
    return new TaskInputs(all, tokens);
  }

  public Optional<TaskInput> model() {
    return of(Role.MODEL).stream().findFirst();
  }

  public Optional<TaskInput> profile() {
    return of(Role.PROFILE).stream().findFirst();
  }

  public List<TaskInput> files() {
    return of(Role.FILE);
  }

  private List<TaskInput> of(Role role) {
    return all.stream().filter(one -> one.role() == role).toList();
  }
}
