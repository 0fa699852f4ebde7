# Homebrew formula of Kvasir; its archives are those of the release page.
class Kvasir < Formula
  desc "Language models on the JVM with a KV cache of 1 to 4 bits per value"
  homepage "@homepage@"
  version "@version@"
  license "Apache-2.0"

  on_macos do
    depends_on arch: :arm64
    depends_on "openjdk"
    url "@downloads@/@archive:macos-aarch64@"
    sha256 "@sha256:macos-aarch64@"
  end

  on_linux do
    depends_on arch: :x86_64
    url "@downloads@/@archive:linux-x86_64@"
    sha256 "@sha256:linux-x86_64@"
  end

  def install
    libexec.install Dir["*"]
    if OS.mac?
      (bin/"kvasir").write_env_script libexec/"bin/kvasir", Language::Java.overridable_java_home_env
    else
      bin.install_symlink libexec/"bin/kvasir"
    end
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/kvasir --version")
  end
end
