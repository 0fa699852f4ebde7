package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The package that applications use is small, and its signatures name no internal type. */
class PublicApiTest {
  private static final int MAX_TYPES = 23;

  private static final List<Class<?>> API = publicTypes();

  private static List<Class<?>> publicTypes() {
    try (Stream<Path> files = Files.list(Path.of("target/classes/dev/kvasir"))) {
      List<Path> ours = files.filter(file -> file.toString().endsWith(".class")).toList();
      return new ClassFileImporter()
          .importPaths(ours).stream()
              .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
              .<Class<?>>map(JavaClass::reflect)
              .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void thePackageHasAFewTypes() {
    assertThat(API.stream().filter(type -> type.getEnclosingClass() == null))
        .hasSizeLessThanOrEqualTo(MAX_TYPES)
        .contains(Model.class, Session.class, ChatModel.class, KvCacheSpec.class);
  }

  @Test
  void signaturesNameTypesOfTheApiAndTheJdkOnly() {
    Set<String> foreign = new TreeSet<>();
    for (Class<?> type : API) {
      if (!Modifier.isPublic(type.getModifiers())) {
        continue;
      }
      signature(type)
          .flatMap(PublicApiTest::classes)
          .filter(named -> !named.isPrimitive() && !named.getName().startsWith("java."))
          .filter(named -> !API.contains(named))
          .forEach(named -> foreign.add(type.getSimpleName() + ": " + named.getName()));
    }
    assertThat(foreign).isEmpty();
  }

  @Test
  void nothingReturnsAnObject() {
    assertThat(
            API.stream()
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isBridge())
                .filter(method -> method.getReturnType() == Object.class))
        .isEmpty();
  }

  private static Stream<Type> signature(Class<?> type) {
    Stream<Executable> executables =
        Stream.concat(
            Stream.of(type.getDeclaredMethods()), Stream.of(type.getDeclaredConstructors()));
    Stream<Type> used =
        executables
            .filter(each -> isVisible(each.getModifiers()) && !each.isSynthetic())
            .flatMap(
                each ->
                    Stream.concat(
                        Stream.of(each.getGenericParameterTypes()),
                        each instanceof Method method
                            ? Stream.of(method.getGenericReturnType())
                            : Stream.empty()));
    Stream<Type> fields =
        Stream.of(type.getDeclaredFields())
            .filter(field -> isVisible(field.getModifiers()))
            .map(Field::getGenericType);
    Stream<Type> parents =
        Stream.concat(
            Stream.of(type.getGenericInterfaces()), Stream.ofNullable(type.getGenericSuperclass()));
    return Stream.of(used, fields, parents).flatMap(each -> each);
  }

  private static boolean isVisible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }

  private static Stream<Class<?>> classes(Type type) {
    return switch (type) {
      case Class<?> plain -> Stream.of(plain.isArray() ? plain.componentType() : plain);
      case ParameterizedType generic ->
          Stream.concat(
              classes(generic.getRawType()),
              Stream.of(generic.getActualTypeArguments()).flatMap(PublicApiTest::classes));
      case GenericArrayType array -> classes(array.getGenericComponentType());
      case WildcardType wildcard ->
          Stream.of(wildcard.getUpperBounds()).flatMap(PublicApiTest::classes);
      default -> Stream.empty();
    };
  }
}
