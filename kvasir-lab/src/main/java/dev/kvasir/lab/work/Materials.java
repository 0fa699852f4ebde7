package dev.kvasir.lab.work;

import dev.kvasir.lab.work.Material.Role;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the pieces of a plan need beside themselves.
 *
 * @param all a model's files, where it is not the bundled one; a profile; further files
 * @param context tokens that the model is used for; 0 for as many as it can hold
 */
public record Materials(ArrayList<Material> all, int context) implements Serializable {
  /** The bundled model, its own profile and no files. */
  public static Materials bundled() {
    return new Materials(new ArrayList<>(), 0);
  }

  public Materials with(Material further) {
    ArrayList<Material> more = new ArrayList<>(all);
    more.add(further);
    return new Materials(more, context);
  }

  public Materials withContext(int tokens) {
    return new Materials(all, tokens);
  }

  public Optional<Material> model() {
    return of(Role.MODEL).stream().findFirst();
  }

  public Optional<Material> profile() {
    return of(Role.PROFILE).stream().findFirst();
  }

  public List<Material> files() {
    return of(Role.FILE);
  }

  private List<Material> of(Role role) {
    return all.stream().filter(one -> one.role() == role).toList();
  }
}
